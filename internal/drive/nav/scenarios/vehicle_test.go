package scenarios

import (
	"encoding/json"

	"wayside/internal/roads/car"
)

// vehicles are the supported profiles of scenarios. The test vehicle drives at whole speeds, and only turning back costs
// time, so that its routes test the router alone.
var vehicles = map[string]func() (*car.Profile, error){
	"car":     car.New,
	"testbot": testbot,
}

// testbot returns the test vehicle: our car with other figures.
func testbot() (*car.Profile, error) {
	var figures map[string]any
	if err := json.Unmarshal(car.Figures(), &figures); err != nil {
		return nil, err
	}
	speeds := figures["highway_speed"].(map[string]any)
	const usual, nothing = 24, 1e-6
	for _, highway := range [...]string{"footway", "cycleway", "path", "pedestrian", "track", "road", "corridor", "river", "traffic_signals"} {
		speeds[highway] = 0
	}
	for highway := range speeds {
		speeds[highway] = usual
	}
	speeds["primary"], speeds["secondary"], speeds["tertiary"], speeds["steps"] = 36, 18, 12, 6
	figures["route_speed"] = map[string]any{"ferry": usual}
	figures["maxspeed_factor"] = 1
	figures["oneway_implied"] = map[string]any{"junction": []string{"roundabout"}}
	never := figures["never"].(map[string]any)
	never["highway"] = []string{"construction"}
	turn := figures["turn"].(map[string]any)
	turn["most"], turn["u_turn"] = nothing, 20
	figures["node_delay"] = map[string]any{"traffic_signals": 7, "stop": nothing, "give_way": nothing}
	text, err := json.Marshal(figures)
	if err != nil {
		return nil, err
	}
	return car.Parse(text)
}
