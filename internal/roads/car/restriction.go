package car

import (
	"iter"
	"slices"
	"strings"
)

// MemberKind is what a member of a relation is.
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

// Restriction is what a relation forbids (D15.9): with Only, to drive on anywhere else than to To for those who came by From
// and all of the via; without, to drive From, via, To. Whether the members hang together is for the graph to find out.
type Restriction struct {
	Only     bool
	From, To []int64 // ways; see Pairs
	ViaNode  int64   // counts where ViaWays is empty
	ViaWays  []int64 // in the order of the relation
}

// Pairs are the ways from and to which the restriction counts, each with each.
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

// Outcome is what became of a relation.
type Outcome uint8

// What may become of a relation.
const (
	NoRestriction       Outcome = iota // another relation, or a restriction that does not concern cars
	Restricts                          // the restriction counts
	ConditionalIgnored                 // it counts at times alone, which is ignored for now
	UnknownValueIgnored                // its value is neither no_… nor only_…
	MembersIgnored                     // from, via or to is missing, or there are more than its value or maxMembers permits
)

// Ignored tells whether the relation is to be counted as a restriction that was ignored.
func (o Outcome) Ignored() bool { return o >= ConditionalIgnored }

// restrictionKeys are the types of relations and the keys of restrictions, the one that counts first.
func restrictionKeys() [4]string {
	return [...]string{"restriction", "restriction:motorcar", "restriction:motor_vehicle", "restriction:vehicle"}
}

// ParseRestriction reads the tags and members of a relation. The restriction is empty unless the outcome is Restricts.
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

// isExcepted tells whether cars are among those that a restriction does not concern.
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

// isTimed tells whether a restriction counts on some days or at some hours alone, in the old way of saying so.
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

// maxMembers is the number of members that a restriction is read of. Real ones have fewer than ten.
const maxMembers = 200

// parseMembers sorts the members by their roles. It is false unless there are a from, a to, and one node or ways between.
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
