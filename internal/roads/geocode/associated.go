package geocode

import (
	"cmp"
	"fmt"
	"slices"

	"wayside/internal/roads/osmpbf"
)

// associatedStreet is a relation that assigns houses to a street.
type associatedStreet struct {
	name    string
	way     int64 // of the street; used if the relation has no name
	address tagged
}

// associatedHouse is a house of such a relation.
type associatedHouse struct {
	osm      osmID
	relation uint32 // index in collector.associated
}

// associate reads a relation that assigns houses to a street: type=associatedStreet, or type=street.
func (c *collector) associate(r *osmpbf.Relation) error {
	o := object{address: &c.noAddress, rare: &c.noRare}
	c.readTags(&o, r.Tags)
	one := associatedStreet{name: cmp.Or(o.address.street, o.name), address: *o.address}
	number := uint32(len(c.associated))
	for _, m := range r.Members {
		switch m.Role {
		case "street":
			if m.Type == osmpbf.Ways && one.way == 0 {
				one.way = m.Ref
			}
		case "house", "address", "addr:houselink", "":
			c.houses = append(c.houses, associatedHouse{newOSMID(memberKind(m.Type), m.Ref), number})
		}
	}
	c.associated = append(c.associated, one)
	if len(c.houses) > c.allowed {
		return fmt.Errorf("the relations of streets have more than %d houses, which is more than the extracts can mean", c.allowed)
	}
	return nil
}

func memberKind(t osmpbf.Types) int64 {
	switch t {
	case osmpbf.Nodes:
		return osmNode
	case osmpbf.Ways:
		return osmWay
	}
	return osmRelation
}

// sortAssociated sorts the houses, and keeps the first of several relations of a house.
func (c *collector) sortAssociated() {
	slices.SortStableFunc(c.houses, func(a, b associatedHouse) int { return compareOSM(a.osm, b.osm) })
	c.houses = slices.CompactFunc(c.houses, func(a, b associatedHouse) bool { return a.osm == b.osm })
}

// nameAssociated completes the addresses of houses without a street from their relations.
func (c *collector) nameAssociated() {
	for i := range c.associated {
		one := &c.associated[i]
		if o := c.object(newOSMID(osmWay, one.way)); one.name == "" && one.way != 0 && o != nil && o.role == isHighway {
			one.name = o.name
		}
	}
	for _, h := range c.houses {
		o, one := c.object(h.osm), &c.associated[h.relation]
		if o == nil || o.role == isHighway || o.role == isBoundary || o.address.number == "" || one.name == "" {
			continue
		}
		a := *o.address
		if a.street == "" {
			a.street = one.name
		}
		a.city, a.postcode, a.country = cmp.Or(a.city, one.address.city), cmp.Or(a.postcode, one.address.postcode), cmp.Or(a.country, one.address.country)
		*c.ownAddress(o) = a
	}
}

// object returns the object with an id, or nil if none was kept. The objects must be sorted.
func (c *collector) object(id osmID) *object {
	i, ok := slices.BinarySearchFunc(c.objects, id, func(o object, id osmID) int { return compareOSM(o.osm, id) })
	if !ok {
		return nil
	}
	return &c.objects[i]
}

// compareOSM orders by type, then by id.
func compareOSM(a, b osmID) int { return cmp.Or(cmp.Compare(a&3, b&3), cmp.Compare(a, b)) }
