package mapdata

import "strings"

// Licence is a well-known licence for open data.
type Licence struct {
	ID  string // SPDX identifier
	URL string // of the licence's text, https
}

// licences are offered and linked by the pages. A feed may state any other in its own words.
var licences = [...]Licence{
	{"CC0-1.0", "https://creativecommons.org/publicdomain/zero/1.0/legalcode"},
	{"CC-BY-4.0", "https://creativecommons.org/licenses/by/4.0/legalcode"},
	{"CC-BY-SA-4.0", "https://creativecommons.org/licenses/by-sa/4.0/legalcode"},
	{"ODbL-1.0", "https://opendatacommons.org/licenses/odbl/1-0/"},
	{"ODC-By-1.0", "https://opendatacommons.org/licenses/by/1-0/"},
	{"PDDL-1.0", "https://opendatacommons.org/licenses/pddl/1-0/"},
	{"OGL-UK-3.0", "https://www.nationalarchives.gov.uk/doc/open-government-licence/version/3/"},
	{"DL-DE-BY-2.0", "https://www.govdata.de/dl-de/by-2-0"},
	{"DL-DE-ZERO-2.0", "https://www.govdata.de/dl-de/zero-2-0"},
	{"etalab-2.0", "https://www.etalab.gouv.fr/wp-content/uploads/2017/04/ETALAB-Licence-Ouverte-v2.0.pdf"},
}

// Licences returns a copy of the list of well-known licences.
func Licences() []Licence {
	all := licences
	return all[:]
}

// LicenceURL returns the URL of a stated licence's text, or an empty string if it is not a well-known one. SPDX
// identifiers are case-insensitive.
func LicenceURL(stated string) string {
	for i := range licences {
		if strings.EqualFold(licences[i].ID, stated) {
			return licences[i].URL
		}
	}
	return ""
}
