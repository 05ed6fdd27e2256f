package osmpbf

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sums are counts and sums over the contents of a file, which any wrong object changes.
type sums struct {
	Nodes, Ways, Relations int
	Tags, Refs, Members    int
	Text                   int   // bytes of keys, values and roles
	IDs                    int64 // of all objects
	RefSum                 int64
	MemberSum              int64 // each reference once for nodes, twice for ways, three times for relations
	Lat, Lng               int64 // in units of 100 nanodegrees
}

func (s *sums) tags(id int64, tags Tags) {
	s.IDs += id
	s.Tags += len(tags)
	for _, t := range tags {
		s.Text += len(t.Key) + len(t.Value)
	}
}

func (s *sums) add(b *Block) {
	s.Nodes += len(b.Nodes)
	s.Ways += len(b.Ways)
	s.Relations += len(b.Relations)
	for _, n := range b.Nodes {
		s.tags(n.ID, n.Tags)
		s.Lat += n.Lat / 100
		s.Lng += n.Lng / 100
	}
	for _, w := range b.Ways {
		s.tags(w.ID, w.Tags)
		s.Refs += len(w.Refs)
		for _, ref := range w.Refs {
			s.RefSum += ref
		}
	}
	for _, r := range b.Relations {
		s.tags(r.ID, r.Tags)
		s.Members += len(r.Members)
		for _, m := range r.Members {
			s.Text += len(m.Role)
			s.MemberSum += m.Ref * map[Types]int64{Nodes: 1, Ways: 2, Relations: 3}[m.Type]
		}
	}
}

// extracts are real files: test data of OpenTripPlanner (Columbus with plain nodes, and Milan), GraphHopper (Malta) and
// Planetiler (Monaco). Their sums were computed once from the text output of osmium 1.15 (`osmium cat -f opl`).
var extracts = map[string]sums{
	"columbus-otp-nondense.osm.pbf": {
		Nodes: 110560, Ways: 15503, Relations: 111, Tags: 48673, Refs: 138715, Members: 1718, Text: 761159,
		IDs: 97888031942437, RefSum: 120484921538806, MemberSum: 470129077159, Lat: 44193213600806, Lng: -91772047056357,
	},
	"malta-gh.osm.pbf": {
		Nodes: 252937, Ways: 40028, Relations: 527, Tags: 89556, Refs: 324257, Members: 6893, Text: 1374659,
		IDs: 653667683474628, RefSum: 807948701783627, MemberSum: 3520036450389, Lat: 90830202031336, Lng: 36493394432355,
	},
	"milan-otp.osm.pbf": {
		Nodes: 262352, Ways: 69043, Relations: 2350, Tags: 361919, Refs: 406883, Members: 49283, Text: 5832464,
		IDs: 492524929759836, RefSum: 695521211999517, MemberSum: 26428987532453, Lat: 119324859529017, Lng: 24232592685008,
	},
	"monaco-planetiler.osm.pbf": {
		Nodes: 27135, Ways: 4295, Relations: 255, Tags: 27396, Refs: 33210, Members: 27011, Text: 561926,
		IDs: 106386738310314, RefSum: 122114585187956, MemberSum: 28999748342054, Lat: 11867781153351, Lng: 2014264938349,
	},
}

// openExtract opens a real file from the folder that WAYSIDE_TEST_OSM names, or skips the test.
func openExtract(t testing.TB, name string) *File {
	t.Helper()
	folder := os.Getenv("WAYSIDE_TEST_OSM")
	if folder == "" {
		t.Skip("NOT TESTED: set WAYSIDE_TEST_OSM to a folder with OpenStreetMap extracts")
	}
	in, err := os.Open(filepath.Join(folder, name))
	if errors.Is(err, os.ErrNotExist) {
		t.Skipf("NOT TESTED: there is no %s in the folder that WAYSIDE_TEST_OSM names", name)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close() })
	info, err := in.Stat()
	if err != nil {
		t.Fatal(err)
	}
	f, err := Open(in, info.Size())
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestExtracts(t *testing.T) {
	for name, want := range extracts {
		t.Run(name, func(t *testing.T) {
			f := openExtract(t, name)
			var got, ways, rest sums
			// Ways first, as in an import, because what the first pass learns about the file must not hide anything from
			// the second.
			for _, pass := range []struct {
				want Types
				sums *sums
			}{{Ways, &ways}, {Nodes | Relations, &rest}, {0, &got}} {
				err := f.Scan(t.Context(), Options{Want: pass.want}, func(b *Block) error {
					pass.sums.add(b)
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if ways.Nodes+ways.Relations+rest.Ways > 0 || ways.Ways != want.Ways || ways.RefSum != want.RefSum ||
				rest.Lat != want.Lat || rest.MemberSum != want.MemberSum || ways.Text+rest.Text != want.Text {
				t.Errorf("in passes: ways %+v, others %+v", ways, rest)
			}
		})
	}
}

func BenchmarkExtract(b *testing.B) {
	for name := range extracts {
		for _, tt := range []struct {
			name    string
			workers int
			want    Types
		}{{"1 core", 1, 0}, {"all cores", 0, 0}, {"nodes, 1 core", 1, Nodes}} {
			b.Run(name+"/"+tt.name, func(b *testing.B) {
				f := openExtract(b, name)
				b.SetBytes(f.size)
				b.ReportAllocs()
				for b.Loop() {
					var s sums
					err := f.Scan(b.Context(), Options{Want: tt.want, Workers: tt.workers}, func(block *Block) error {
						s.Nodes += len(block.Nodes)
						return nil
					})
					if err != nil || s.Nodes == 0 {
						b.Fatal(s.Nodes, err)
					}
				}
			})
		}
	}
}
