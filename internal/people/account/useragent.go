package account

import (
	"regexp"
	"strings"
)

// Patterns of the User-Agent tokens that identify a browser or system. The first match in the lists below wins, because
// browsers also name the browsers that they derive from. The version follows the slash.
const (
	browserPattern = `\b(Edg|OPR|SamsungBrowser|Firefox|FxiOS|CriOS|Chrome|Chromium|Version)/(\d{1,4})\b`
	systemPattern  = `\b(Tesla|QtCarBrowser|CrKey|iPhone|iPad|Android|CrOS|Macintosh|Windows|Linux|X11)\b`
)

// Device parses a User-Agent into a browser with its version, such as "Chrome 79", and the key of a system, such as
// "tesla"; empty if unknown. A client can claim to be anything.
func Device(agent string) (browser, system string) { return browserOf(agent), systemOf(agent) }

// DeviceWords describes the device in English, so that a person can recognise their own car: "a Tesla", "Chrome 79 on
// Linux".
func DeviceWords(agent string) string {
	browser, key := Device(agent)
	system := map[string]string{
		"tesla": "a Tesla", "chromecast": "a Chromecast", "iphone": "an iPhone", "ipad": "an iPad", "android": "Android",
		"chromeos": "ChromeOS", "mac": "a Mac", "windows": "Windows", "linux": "Linux",
	}[key]
	switch {
	case browser == "" && system == "":
		return "Unknown device"
	case browser == "":
		return system
	case system == "":
		return browser
	}
	return browser + " on " + system
}

func systemOf(agent string) string {
	found := regexp.MustCompile(systemPattern).FindAllString(agent, -1)
	for _, known := range []struct{ word, key string }{
		{"Tesla", "tesla"},
		{"QtCarBrowser", "tesla"},
		{"CrKey", "chromecast"},
		{"iPhone", "iphone"},
		{"iPad", "ipad"},
		{"Android", "android"},
		{"CrOS", "chromeos"},
		{"Macintosh", "mac"},
		{"Windows", "windows"},
		{"Linux", "linux"},
		{"X11", "linux"},
	} {
		for _, word := range found {
			if word == known.word {
				return known.key
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
