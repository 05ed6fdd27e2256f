package account

import (
	"regexp"
	"strings"
)

// Words of a User-Agent that tell people something. The first that is found counts: browsers name their ancestors too.
// A product's version is what follows the slash.
const (
	browserPattern = `\b(Edg|OPR|SamsungBrowser|Firefox|FxiOS|CriOS|Chrome|Chromium|Version)/(\d{1,4})\b`
	systemPattern  = `\b(Tesla|QtCarBrowser|CrKey|iPhone|iPad|Android|CrOS|Macintosh|Windows|Linux|X11)\b`
)

// DeviceWords says in words what a User-Agent seems to be, for a person who asks themselves whether it is their own car:
// "Tesla", "Chrome 79 on Linux". Whoever asks can claim to be anything.
func DeviceWords(agent string) string {
	system := systemOf(agent)
	browser := browserOf(agent)
	switch {
	case browser == "" && system == "":
		return "A device that does not say what it is"
	case browser == "":
		return system
	case system == "":
		return browser
	}
	return browser + " on " + system
}

func systemOf(agent string) string {
	found := regexp.MustCompile(systemPattern).FindAllString(agent, -1)
	for _, known := range []struct{ word, name string }{
		{"Tesla", "a Tesla"},
		{"QtCarBrowser", "a Tesla"},
		{"CrKey", "a Chromecast"},
		{"iPhone", "an iPhone"},
		{"iPad", "an iPad"},
		{"Android", "Android"},
		{"CrOS", "ChromeOS"},
		{"Macintosh", "a Mac"},
		{"Windows", "Windows"},
		{"Linux", "Linux"},
		{"X11", "Linux"},
	} {
		for _, word := range found {
			if word == known.word {
				return known.name
			}
		}
	}
	return ""
}

func browserOf(agent string) string {
	found := regexp.MustCompile(browserPattern).FindAllStringSubmatch(agent, -1)
	for _, known := range []struct{ word, name string }{
		{"Edg", "Edge"},
		{"OPR", "Opera"},
		{"SamsungBrowser", "Samsung Internet"},
		{"Firefox", "Firefox"},
		{"FxiOS", "Firefox"},
		{"CriOS", "Chrome"},
		{"Chromium", "Chromium"},
		{"Chrome", "Chrome"},
		{"Version", "Safari"},
	} {
		for _, product := range found {
			if product[1] == known.word && (known.word != "Version" || strings.Contains(agent, "Safari/")) {
				return known.name + " " + product[2]
			}
		}
	}
	return ""
}
