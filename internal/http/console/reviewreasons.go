package console

import (
	"strings"

	"wayside/internal/ground/mapdata"
	"wayside/internal/http/console/words"
)

// rejectReasons are the reasons that curators choose from, by the last part of their keys: "reason.<name>" is the text
// for the owner, and "reason.<name>.short" its name in the list.
var rejectReasons = [...]string{
	"no-data", "failing", "wrong-places", "wrong-types", "no-description", "attribution", "licence", "name", "duplicate", "not-road",
}

// reasonChoice is one reason of the list.
type reasonChoice struct{ Name, Short, Text string }

func reasonChoices(w *words.Words) []reasonChoice {
	all := make([]reasonChoice, len(rejectReasons))
	for i, name := range rejectReasons {
		all[i] = reasonChoice{name, w.Text("reason." + name + ".short"), w.Text("reason." + name)}
	}
	return all
}

// noteFor returns a curator's note for the owner of the feed: the chosen reason, unless the note contains it already, and then the
// note. Lines that repeat a reason word for word are translated into the owner's language; other lines stay unchanged.
func noteFor(curator, owner *words.Words, chosen, note string) string {
	lines := strings.Split(strings.ReplaceAll(note, "\r\n", "\n"), "\n")
	if strings.TrimSpace(note) == "" {
		lines = nil
	}
	used := make(map[string]bool)
	for i, line := range lines {
		for _, name := range rejectReasons {
			if strings.TrimSpace(line) == curator.Text("reason."+name) {
				lines[i], used[name] = owner.Text("reason."+name), true
			}
		}
	}
	for _, name := range rejectReasons {
		if name == chosen && !used[name] {
			lines = append([]string{owner.Text("reason." + name)}, lines...)
		}
	}
	return strings.Join(lines, "\n")
}

// languageOf returns the language in which an account reads.
func languageOf(a *mapdata.Account) mapdata.Language {
	if a.Language == "" {
		return mapdata.English
	}
	return a.Language
}
