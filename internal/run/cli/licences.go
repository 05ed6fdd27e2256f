package cli

import (
	"net/url"
	"strings"
	"time"

	"wayside/internal/run/licences"
)

// licencesCmd is wayside licences.
type licencesCmd struct {
	SBOM bool `name:"sbom" help:"Print a software bill of materials of this binary instead (CycloneDX 1.6, JSON)."`
}

// Run prints the licence texts of the parts of the program, or lists the parts.
func (c licencesCmd) Run(p *program) error {
	if !c.SBOM {
		p.printf("%s", licences.Text())
		return nil
	}
	return p.writeJSON(billOfMaterials(p.now()))
}

// bomJSON is the part of CycloneDX 1.6 that the program writes.
type bomJSON struct {
	Format     string         `json:"bomFormat"`
	Version    string         `json:"specVersion"`
	Number     int            `json:"version"`
	Metadata   bomMetadata    `json:"metadata"`
	Components []bomComponent `json:"components"`
}

type bomMetadata struct {
	Timestamp string       `json:"timestamp"`
	Component bomComponent `json:"component"`
}

type bomComponent struct {
	Type    string `json:"type"`
	Ref     string `json:"bom-ref"`
	Name    string `json:"name"`
	Version string `json:"version"`
	PURL    string `json:"purl,omitempty"`
}

// billOfMaterials lists the parts of this binary, from the build information in it.
func billOfMaterials(now time.Time) bomJSON {
	bom := bomJSON{
		Format: "CycloneDX", Version: "1.6", Number: 1,
		Metadata: bomMetadata{
			Timestamp: now.UTC().Format(time.RFC3339),
			Component: bomComponent{Type: "application", Ref: "wayside@" + version, Name: "wayside", Version: version},
		},
	}
	for _, part := range licences.Parts() {
		purl := "pkg:" + part.Kind + "/" + strings.ReplaceAll(url.PathEscape(part.Name), "%2F", "/") + "@" + url.PathEscape(part.Version)
		bom.Components = append(bom.Components, bomComponent{Type: "library", Ref: purl, Name: part.Name, Version: part.Version, PURL: purl})
	}
	return bom
}
