package car_test

import (
	"math"
	"testing"

	"wayside/internal/roads/car"
)

// sigmoid computes the formula of D15.8, written independently from its text.
func sigmoid(angle, b float64) float64 {
	return 7.5 / (1 + math.Exp(-(13/b*angle/180 - 6.5*b)))
}

func TestD15_8Turns(t *testing.T) {
	p := profile(t)
	const bias = 1.075
	for name, row := range map[string]struct {
		turn car.Turn
		want float64
	}{
		"straight on":                         {car.Turn{Ends: 3}, sigmoid(0, bias)},
		"to the right":                        {car.Turn{Ends: 4, Angle: 90}, sigmoid(90, bias)},
		"to the left":                         {car.Turn{Ends: 4, Angle: -90}, sigmoid(90, 1/bias)},
		"sharp to the right":                  {car.Turn{Ends: 3, Angle: 170}, sigmoid(170, bias)},
		"straight on, driving on the left":    {car.Turn{Ends: 3, DrivingLeft: true}, sigmoid(0, 1/bias)},
		"to the right, driving on the left":   {car.Turn{Ends: 3, Angle: 90, DrivingLeft: true}, sigmoid(90, 1/bias)},
		"to the left, driving on the left":    {car.Turn{Ends: 3, Angle: -90, DrivingLeft: true}, sigmoid(90, bias)},
		"where two ends meet":                 {car.Turn{Ends: 2, Angle: 90}, 0},
		"where a ferry begins":                {car.Turn{Ends: 2, Angle: 45, Ferry: true}, sigmoid(45, bias)},
		"turning back":                        {car.Turn{Ends: 1, Back: true}, sigmoid(180, bias) + 20},
		"turning back, whatever the angle":    {car.Turn{Ends: 3, Back: true, Angle: -90}, sigmoid(180, bias) + 20},
		"turning back where two ends meet":    {car.Turn{Ends: 2, Back: true}, sigmoid(180, bias) + 20},
		"turning back, driving on the left":   {car.Turn{Ends: 1, Back: true, DrivingLeft: true}, sigmoid(180, 1/bias) + 20},
		"from a local road onto a local one":  {car.Turn{Ends: 2, FromLocal: true, ToLocal: true}, 0},
		"from a local road onto one that not": {car.Turn{Ends: 2, FromLocal: true}, 0},
	} {
		duration, weight := p.Turn(row.turn)
		if !near(duration, row.want) || duration != weight {
			t.Errorf("%s: %v s weigh %v, want %v", name, duration, weight, row.want)
		}
	}
	duration, weight := p.Turn(car.Turn{Ends: 3, Angle: 90, ToLocal: true})
	if !near(duration, sigmoid(90, bias)) || !near(weight, duration+3000) {
		t.Errorf("onto a local road: %v s weigh %v", duration, weight)
	}
	if _, weight := p.Turn(car.Turn{Ends: 2, ToLocal: true}); weight != 3000 {
		t.Errorf("onto a local road where two ends meet: %v", weight)
	}
	if p.LookAhead() != 20 {
		t.Errorf("bearings look %v m ahead", p.LookAhead())
	}
}

func TestD15_8TurningBack(t *testing.T) {
	for name, row := range map[string]struct {
		back car.TurningBack
		want bool
	}{
		"at a junction":                       {car.TurningBack{TwoWay: 2}, false},
		"where the road ends":                 {car.TurningBack{TwoWay: 2, RoadEnds: true}, true},
		"where it is barred":                  {car.TurningBack{TwoWay: 2, Barred: true}, true},
		"at a turning circle":                 {car.TurningBack{TwoWay: 2, AtPlace: true}, true},
		"where nothing else is allowed":       {car.TurningBack{TwoWay: 2, NothingElse: true}, true},
		"where one road is open both ways":    {car.TurningBack{TwoWay: 1}, true},
		"from a direction with a lane for it": {car.TurningBack{TwoWay: 2, ReverseLane: true}, true},
		"where four roads are open both ways": {car.TurningBack{TwoWay: 4}, false},
	} {
		if got := row.back.Allowed(); got != row.want {
			t.Errorf("%s: %v, want %v", name, got, row.want)
		}
	}
}
