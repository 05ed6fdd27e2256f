package cli

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
)

// completionCmd is wayside completion.
type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Run prints the script of a shell.
func (c *completionCmd) Run(p *program) error {
	parser, err := newParser(new(grammar), p, func(int) {})
	if err != nil {
		return err
	}
	commands := completable(parser.Model)
	switch c.Shell {
	case "bash":
		p.printf("%s", bashScript(commands))
	case "zsh":
		p.printf("%s", zshScript(commands))
	default:
		p.printf("%s", fishScript(commands))
	}
	return nil
}

// completed is a command with what may follow it.
type completed struct {
	path    string // such as "account create"; empty: the program
	choices []choice
}

// choice is a subcommand, a flag or a value.
type choice struct {
	word, help string
	takesValue bool // of a flag
}

// completable lists all commands.
func completable(app *kong.Application) []completed {
	var all []completed
	var add func(node *kong.Node)
	add = func(node *kong.Node) {
		one := completed{path: commandPath(node)}
		for _, child := range node.Children {
			one.choices = append(one.choices, choice{word: child.Name, help: child.Help})
		}
		for _, value := range node.Positional {
			if value.Tag.Enum == "" {
				continue
			}
			for word := range strings.SplitSeq(value.Tag.Enum, ",") {
				one.choices = append(one.choices, choice{word: word, help: value.Name})
			}
		}
		for _, group := range node.AllFlags(true) {
			for _, flag := range group {
				one.choices = append(one.choices, choice{"--" + flag.Name, flag.Help, !flag.IsBool()})
			}
		}
		all = append(all, one)
		for _, child := range node.Children {
			add(child)
		}
	}
	add(app.Node)
	return all
}

// paths lists the commands as shell words, with a separator.
func paths(commands []completed, separator string) string {
	var words []string
	for _, c := range commands[1:] {
		words = append(words, shellWord(c.path))
	}
	return strings.Join(words, separator)
}

// valueFlags lists the flags that take a value, with a separator.
func valueFlags(commands []completed, separator string) string {
	var words []string
	seen := make(map[string]bool)
	for _, c := range commands {
		for _, choice := range c.choices {
			if choice.takesValue && !seen[choice.word] {
				seen[choice.word] = true
				words = append(words, choice.word)
			}
		}
	}
	return strings.Join(words, separator)
}

func bashScript(commands []completed) string {
	var cases strings.Builder
	for _, c := range commands {
		words := make([]string, len(c.choices))
		for i := range c.choices {
			words[i] = c.choices[i].word
		}
		fmt.Fprintf(&cases, "\t%s) words=%s ;;\n", shellWord(c.path), shellWord(strings.Join(words, " ")))
	}
	return `# bash completion of wayside
_wayside() {
	local at='' next words='' i
	for ((i = 1; i < COMP_CWORD; i++)); do
		next="${at:+$at }${COMP_WORDS[i]}"
		case "$next" in
		` + paths(commands, "|") + `) at=$next ;;
		esac
	done
	case "${COMP_WORDS[COMP_CWORD - 1]}" in
	` + valueFlags(commands, "|") + `) COMPREPLY=(); return ;; # files, by -o default
	esac
	case "$at" in
` + cases.String() + `	esac
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]}")
}
complete -o default -F _wayside wayside
`
}

func zshScript(commands []completed) string {
	var cases strings.Builder
	for _, c := range commands {
		words := make([]string, len(c.choices))
		for i, choice := range c.choices {
			words[i] = shellWord(choice.word + ":" + strings.ReplaceAll(choice.help, ":", "\\:"))
		}
		fmt.Fprintf(&cases, "\t(%s) choices=(%s) ;;\n", shellWord(c.path), strings.Join(words, " "))
	}
	return `#compdef wayside
_wayside() {
	local at='' next i
	local -a choices
	for ((i = 2; i < CURRENT; i++)); do
		next="${at:+$at }${words[i]}"
		case "$next" in
		(` + paths(commands, "|") + `) at=$next ;;
		esac
	done
	case "${words[CURRENT - 1]}" in
	(` + valueFlags(commands, "|") + `) _files; return ;;
	esac
	case "$at" in
` + cases.String() + `	esac
	_describe wayside choices || _files
}
compdef _wayside wayside
`
}

func fishScript(commands []completed) string {
	var lines strings.Builder
	for _, c := range commands {
		for _, choice := range c.choices {
			condition := shellWord("__wayside_at " + fishWord(c.path))
			word, isFlag := strings.CutPrefix(choice.word, "--")
			switch {
			case !isFlag:
				fmt.Fprintf(&lines, "complete -c wayside -n %s -f -a %s -d %s\n", condition, word, fishWord(choice.help))
			case choice.takesValue:
				fmt.Fprintf(&lines, "complete -c wayside -n %s -r -l %s -d %s\n", condition, word, fishWord(choice.help))
			default:
				fmt.Fprintf(&lines, "complete -c wayside -n %s -l %s -d %s\n", condition, word, fishWord(choice.help))
			}
		}
	}
	return `# fish completion of wayside
function __wayside_at
	set -l at ''
	for word in (commandline -opc)[2..-1]
		set -l next (string trim -- "$at $word")
		if contains -- "$next" ` + paths(commands, " ") + `
			set at $next
		end
	end
	test "$at" = "$argv[1]"
end
` + lines.String()
}

// shellWord quotes a word for bash and zsh.
func shellWord(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// fishWord quotes a word for fish, within single quotes too.
func fishWord(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, `$`, `\$`).Replace(text) + `"`
}
