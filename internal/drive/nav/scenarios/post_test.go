package scenarios

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"wayside/internal/drive/nav"
	"wayside/internal/drive/nav/osrm"
	"wayside/internal/ground/geo"
)

// samePost checks that a POST asks the same as a URL, or is refused with the same code.
func samePost(service osrm.Service, places []geo.Point, o options, want *osrm.Request, refused error) error {
	body, err := bodyOf(places, o)
	if err != nil {
		return err
	}
	got, err := osrm.ParseBody(service, body)
	if code(err) != code(refused) {
		return fmt.Errorf("as POST %s: %w, as URL: %w", body, err, refused)
	}
	if err == nil && !reflect.DeepEqual(got, want) {
		return fmt.Errorf("as POST %s: %+v, as URL %+v", body, got, want)
	}
	return nil
}

func code(err error) string {
	if refused := new(nav.Error); errors.As(err, &refused) {
		return refused.Code
	}
	return ""
}

// bodyOf writes options of a URL as the members of a JSON object: lists as arrays, numbers as numbers.
func bodyOf(places []geo.Point, o options) ([]byte, error) {
	members := map[string]any{}
	coordinates := make([][2]json.Number, 0, len(places))
	for _, p := range places {
		coordinates = append(coordinates, [2]json.Number{json.Number(degrees(p.Lng)), json.Number(degrees(p.Lat))})
	}
	members["coordinates"] = coordinates
	for name, text := range o {
		switch name {
		case "annotations", "exclude":
			if members[name] = scalar(text); text != "true" && text != "false" {
				members[name] = strings.Split(text, ",")
			}
		case "bearings", "radiuses", "hints", "approaches", "sources", "destinations", "waypoints", "timestamps":
			list := []any{}
			for element := range strings.SplitSeq(text, ";") {
				switch {
				case element == "":
					list = append(list, nil)
				case name == "bearings":
					value, width, _ := strings.Cut(element, ",")
					list = append(list, []any{scalar(value), scalar(width)})
				default:
					list = append(list, scalar(element))
				}
			}
			members[name] = list
		default:
			members[name] = scalar(text)
		}
	}
	return json.Marshal(members)
}

// scalar converts a text to a number, a boolean or a string.
func scalar(text string) any {
	if text == "true" || text == "false" {
		return text == "true"
	}
	if _, err := strconv.ParseFloat(text, 64); err == nil {
		return json.Number(text)
	}
	return text
}

// degrees writes a coordinate in the form of requests.
func degrees(v float64) string { return strconv.FormatFloat(v, 'f', 7, 64) }
