package car

import (
	"iter"
	"slices"
	"strings"
)

// MemberKind is the type of a member of a relation.
type MemberKind uint8

// The kinds of members, in the order of the PBF format.
const (
	NodeMember MemberKind = iota
	WayMember
	RelationMember
)

// Member is one member of a relation.
type Member struct {
	Kind MemberKind
	Ref  int64
	Role string
}

// Restriction is a turn restriction from a relation (D15.9). With Only, a car that came by From and all of the via may
// only drive on to To; without, it must not drive From, via, To. The caller must check whether the members are
// connected.
type Restriction struct {
	Only     bool
	From, To []int64 // ways; see Pairs
	ViaNode  int64   // used if ViaWays is empty
	ViaWays  []int64 // in the order of the relation
}

// Pairs yields each pair of ways from and to which the restriction applies.
func (r *Restriction) Pairs() iter.Seq2[int64, int64] {
	return func(yield func(from, to int64) bool) {
		for _, from := range r.From {
			for _, to := range r.To {
				if !yield(from, to) {
					return
				}
			}
		}
	}
}

// Outcome is the result of parsing a relation.
type Outcome uint8

// The outcomes of parsing a relation.
const (
	NoRestriction       Outcome = iota // another relation, or a restriction that does not concern cars
	Restricts                          // the restriction counts
	ConditionalIgnored                 // it applies only at some times, which is ignored for now
	UnknownValueIgnored                // its value is neither no_… nor only_…
	MembersIgnored                     // from, via or to is missing, or there are more than its value or maxMembers permits
)

// Ignored reports whether the relation counts as a restriction that was ignored.
func (o Outcome) Ignored() bool { return o >= ConditionalIgnored }

// restrictionKeys returns the types of relations and the keys of restrictions. The first key that a relation has counts.
func restrictionKeys() [4]string {
	return [...]string{"restriction", "restriction:motorcar", "restriction:motor_vehicle", "restriction:vehicle"}
}

// ParseRestriction parses the tags and members of a relation. The restriction is empty unless the outcome is Restricts.
func ParseRestriction(tags Tags, members []Member) (Restriction, Outcome) {
	keys := restrictionKeys()
	if kind := tags.Value("type"); !slices.Contains(keys[:], kind) || isExcepted(tags.Value("except")) {
		return Restriction{}, NoRestriction
	}
	value, conditional := "", false
	for _, key := range keys {
		if value == "" {
			value = tags.Value(key)
		}
		conditional = conditional || tags.Value(key+":conditional") != ""
	}
	only, no := strings.HasPrefix(value, "only_"), strings.HasPrefix(value, "no_")
	switch {
	case value == "" && conditional:
		return Restriction{}, ConditionalIgnored
	case value == "" || strings.HasSuffix(value, "_on_red"):
		return Restriction{}, NoRestriction
	case !only && !no:
		return Restriction{}, UnknownValueIgnored
	case isTimed(tags):
		return Restriction{}, ConditionalIgnored
	}
	r, ok := parseMembers(members)
	if !ok || len(r.From) > 1 && value != "no_entry" || len(r.To) > 1 && value != "no_exit" {
		return Restriction{}, MembersIgnored
	}
	r.Only = only
	return r, Restricts
}

// isExcepted reports whether cars are excepted from a restriction.
func isExcepted(except string) bool {
	if except == "" {
		return false
	}
	for one := range strings.SplitSeq(except, ";") {
		switch strings.TrimSpace(one) {
		case "motorcar", "motor_vehicle", "vehicle":
			return true
		}
	}
	return false
}

// isTimed reports whether a restriction applies only on some days or at some hours, in the old way of tagging.
func isTimed(tags Tags) bool {
	for i := range tags {
		switch tags[i].Key {
		case "day_on", "day_off", "hour_on", "hour_off":
			if tags[i].Value != "" {
				return true
			}
		}
	}
	return false
}

// maxMembers is the maximum number of members of a restriction. Real ones have fewer than ten.
const maxMembers = 200

// parseMembers sorts the members by their roles. It returns false unless there are a from, a to, and one node or some
// ways between them.
func parseMembers(members []Member) (Restriction, bool) {
	var r Restriction
	nodes := 0
	if len(members) > maxMembers {
		return r, false
	}
	for _, m := range members {
		switch {
		case m.Kind == WayMember && m.Role == "from":
			r.From = appendNew(r.From, m.Ref)
		case m.Kind == WayMember && m.Role == "to":
			r.To = appendNew(r.To, m.Ref)
		case m.Kind == WayMember && m.Role == "via":
			r.ViaWays = append(r.ViaWays, m.Ref)
		case m.Kind == NodeMember && m.Role == "via" && (nodes == 0 || m.Ref != r.ViaNode):
			r.ViaNode = m.Ref
			nodes++
		}
	}
	overNode, overWays := nodes == 1 && len(r.ViaWays) == 0, nodes == 0 && len(r.ViaWays) > 0
	return r, len(r.From) > 0 && len(r.To) > 0 && (overNode || overWays)
}

func appendNew(ids []int64, id int64) []int64 {
	if slices.Contains(ids, id) {
		return ids
	}
	return append(ids, id)
}
