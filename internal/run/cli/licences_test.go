package cli

import (
	"debug/buildinfo"
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"wayside/internal/proof/testenv"
)

// TestLicencesAndBillOfMaterials checks that the licences and the list of parts that the real program prints contain every module
// that is built into it (F22).
func TestLicencesAndBillOfMaterials(t *testing.T) {
	bin := testenv.Program(t)
	info, err := buildinfo.ReadFile(bin)
	if err != nil {
		t.Fatal(err)
	}
	text, err := exec.CommandContext(t.Context(), bin, "licences").Output()
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), bin, "licences", "--sbom").Output()
	if err != nil {
		t.Fatal(err)
	}
	var bom bomJSON
	if err := json.Unmarshal(out, &bom); err != nil || bom.Format != "CycloneDX" || bom.Metadata.Component.Version != version {
		t.Fatalf("%v: %.300s", err, out)
	}
	listed := map[string]bool{}
	for _, c := range bom.Components {
		listed[c.Name+" "+c.Version] = c.PURL != ""
	}
	if len(info.Deps) < 20 {
		t.Fatalf("the program has %d modules", len(info.Deps))
	}
	for _, m := range info.Deps {
		if !listed[m.Path+" "+m.Version] {
			t.Errorf("%s %s is not in the bill of materials", m.Path, m.Version)
		}
		if !strings.Contains(string(text), "\n==== "+m.Path+" "+m.Version+"\n") {
			t.Errorf("%s %s has no licence text", m.Path, m.Version)
		}
	}
	for _, other := range []string{"==== Go standard library\n", "==== npm:maplibre-gl "} {
		if !strings.Contains(string(text), other) {
			t.Errorf("no licence text for %q", other)
		}
	}
}
