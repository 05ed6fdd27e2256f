package apidocs

import (
	"bytes"
	_ "embed" // for go:embed
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// page is openapi.json as its page shows it.
type page struct {
	Title    string
	Intro    string
	Base     string
	Groups   []groupView
	Security []field
	Schemas  []schemaView
	Problems []problemView
}

// groupView is the operations of one tag.
type groupView struct {
	Name, Anchor, Description string
	Operations                []operationView
}

type operationView struct {
	ID, Method, Path, Summary, Description string
	Access                                 string // who may call it
	Curl                                   string
	Parameters                             []field
	Body                                   []typePart
	Media, BodyNote                        string
	Answers                                []answerView
	Example                                string // of the good answer's body
}

// field is one line of a table: a parameter, a member, a header or a way of authentication.
type field struct {
	Name        string
	Where       string // path, query or header; empty for a member
	Required    bool
	Type        []typePart
	Facts       []string // bounds, defaults and the like
	Description string
}

// typePart is a piece of a type's text; a schema's name is a link to it.
type typePart struct {
	Text   string
	Schema bool
}

type answerView struct {
	Status, Description string
	Problem             string // the type of problem that it describes
	Type                []typePart
	Headers             []string
}

type schemaView struct {
	Name, Description string
	Fields            []field
	Alternatives      []typePart
}

type problemView struct {
	Problem
	Title string
}

//go:embed docs.html
var pageTemplate string

// Render renders the page from the text of openapi.json. base is the public address, for the curl lines; examples replace the
// examples of shared parameters, by name, so that the lines ask for a place where this service has entities.
func Render(text []byte, base string, examples map[string]any) ([]byte, error) {
	doc, err := Parse(text)
	if err != nil {
		return nil, err
	}
	for i := range doc.Components.Parameters {
		p := &doc.Components.Parameters[i]
		if example, ok := examples[p.Name]; ok {
			p.Value.Example = example
		}
	}
	view, err := newPage(doc, base)
	if err != nil {
		return nil, err
	}
	t, err := template.New("docs.html").Funcs(template.FuncMap{"prose": prose}).Parse(pageTemplate)
	if err != nil {
		return nil, fmt.Errorf("parse page: %w", err)
	}
	var buf bytes.Buffer
	if err := t.Execute(&buf, view); err != nil {
		return nil, fmt.Errorf("render page: %w", err)
	}
	return buf.Bytes(), nil
}

// newPage converts the document to the data of its page.
func newPage(doc *Document, base string) (*page, error) {
	p := &page{Title: doc.Info.Title, Intro: doc.Info.Description, Base: base}
	for _, tag := range doc.Tags {
		g := groupView{Name: tag.Name, Anchor: "group-" + strings.ToLower(strings.ReplaceAll(tag.Name, " ", "-")), Description: tag.Description}
		for _, path := range doc.Paths {
			for _, op := range path.Value {
				if !slices.Contains(op.Value.Tags, tag.Name) {
					continue
				}
				o, err := doc.operation(base, path.Name, op.Name, &op.Value)
				if err != nil {
					return nil, fmt.Errorf("%s %s: %w", op.Name, path.Name, err)
				}
				g.Operations = append(g.Operations, *o)
			}
		}
		p.Groups = append(p.Groups, g)
	}
	for _, s := range doc.Components.SecuritySchemes {
		p.Security = append(p.Security, field{Name: s.Name, Description: s.Value.Description})
	}
	for _, s := range doc.Components.Schemas {
		p.Schemas = append(p.Schemas, schemaView{
			Name: s.Name, Description: s.Value.Description,
			Fields: fieldsOf(&s.Value, ""), Alternatives: alternatives(&s.Value),
		})
	}
	for _, problem := range doc.Problems {
		p.Problems = append(p.Problems, problemView{Problem: problem, Title: http.StatusText(problem.Status)})
	}
	return p, nil
}

func (d *Document) operation(base, path, method string, op *Operation) (*operationView, error) {
	o := &operationView{
		ID: op.OperationID, Method: strings.ToUpper(method), Path: path, Summary: op.Summary, Description: described(op.Description, op.Deprecated, op.Sunset),
		Access: Access(op.Security),
	}
	var params []*parameter
	for i := range op.Parameters {
		p, err := resolve(d.Components.Parameters, op.Parameters[i].Ref, &op.Parameters[i])
		if err != nil {
			return nil, err
		}
		params = append(params, p)
		o.Parameters = append(o.Parameters, field{
			Name: p.Name, Where: p.In, Required: p.Required,
			Type: typeOf(&p.Schema), Facts: facts(&p.Schema), Description: described(p.Description, p.Deprecated, p.Sunset),
		})
	}
	var sample json.RawMessage
	if op.RequestBody != nil {
		o.BodyNote = op.RequestBody.Description
		for _, m := range op.RequestBody.Content {
			o.Body, sample = typeOf(&m.Value.Schema), m.Value.Example
			o.Media = m.Name
		}
	}
	signsIn := false
	for i := range op.Responses {
		r, err := resolve(d.Components.Responses, op.Responses[i].Value.Ref, &op.Responses[i].Value)
		if err != nil {
			return nil, err
		}
		answer, example := d.answer(op.Responses[i].Name, r)
		signsIn = signsIn || slices.Contains(answer.Headers, "Set-Cookie")
		if example != "" {
			o.Example = example
		}
		o.Answers = append(o.Answers, answer)
	}
	o.Curl = curl(base, o, params, sample, op.Security, signsIn)
	return o, nil
}

// answer converts one of an operation's answers, and returns the example of its body if the answer is a success.
func (d *Document) answer(status string, r *response) (_ answerView, example string) {
	a := answerView{Status: status, Description: r.Description}
	for _, p := range d.Problems {
		if strings.Contains(r.Description, "`"+p.Type+"`") {
			a.Problem = p.Type
		}
	}
	for _, h := range r.Headers {
		a.Headers = append(a.Headers, h.Name)
	}
	for _, m := range r.Content {
		a.Type = []typePart{{Text: m.Name}}
		if strings.HasSuffix(m.Name, "json") {
			a.Type = typeOf(&m.Value.Schema)
		}
		if len(m.Value.Example) > 0 && strings.HasPrefix(status, "2") {
			example = indent(m.Value.Example)
		}
	}
	return a, example
}

// Access describes in words who may call an operation.
func Access(security []map[string][]string) string {
	var ways []string
	for _, s := range security {
		for name := range s {
			switch name {
			case "session":
				ways = append(ways, "a signed-in session")
			case "apiToken":
				ways = append(ways, "an API token")
			}
		}
		if len(s) == 0 {
			ways = append(ways, "nothing")
		}
	}
	if len(ways) == 0 {
		return "Needs no account."
	}
	if ways[0] == "nothing" {
		return "Needs no account; takes " + strings.Join(ways[1:], " or ") + "."
	}
	return "Needs " + strings.Join(ways, " or ") + "."
}

// curl returns the command that makes the request, from the examples of its parameters and its body.
func curl(base string, o *operationView, params []*parameter, body json.RawMessage, security []map[string][]string, signsIn bool) string {
	address, query := o.Path, ""
	for _, p := range params {
		if p.Example == nil {
			continue
		}
		value := fmt.Sprint(p.Example)
		switch p.In {
		case "path":
			address = strings.ReplaceAll(address, "{"+p.Name+"}", value)
		case "query":
			query += "&" + p.Name + "=" + url.QueryEscape(value)
		}
	}
	if query != "" {
		address += "?" + query[1:]
	}
	words := []string{"curl"}
	if o.Method != http.MethodGet && (o.Method != http.MethodPost || body == nil) {
		words = append(words, "-X "+o.Method)
	}
	needsSession := len(security) > 0 && security[0]["session"] != nil
	switch {
	case signsIn && !needsSession:
		words = append(words, "-c wayside.cookies")
	case needsSession:
		words = append(words, "-b wayside.cookies")
	}
	words = append(words, `"`+base+address+`"`)
	line := strings.Join(words, " ")
	if body != nil {
		line += " \\\n  -H 'Content-Type: application/json' \\\n  -d '" + strings.ReplaceAll(compact(body), "'", `'\''`) + "'"
	}
	return line
}

// fieldsOf lists an object's members; those of objects inside it follow with dotted names.
func fieldsOf(s *schema, prefix string) []field {
	var fields []field
	for i := range s.Properties {
		p := &s.Properties[i]
		fields = append(fields, field{
			Name: prefix + p.Name, Required: slices.Contains(s.Required, p.Name),
			Type: typeOf(&p.Value), Facts: facts(&p.Value), Description: described(p.Value.Description, p.Value.Deprecated, p.Value.Sunset),
		})
		fields = append(fields, fieldsOf(&p.Value, prefix+p.Name+".")...)
	}
	for i := range s.OneOf {
		fields = append(fields, fieldsOf(&s.OneOf[i], prefix)...)
	}
	return fields
}

// described returns a description; if the thing is deprecated, the text begins with the date of its removal (D12.8).
func described(description string, deprecated bool, sunset string) string {
	if !deprecated {
		return description
	}
	return "Deprecated: it may be gone from " + sunset + " on. " + description
}

// alternatives returns the types that a schema without members allows.
func alternatives(s *schema) []typePart {
	if len(s.Properties) > 0 || len(s.OneOf) > 0 {
		return nil
	}
	return typeOf(s)
}

// typeOf describes a type in words.
func typeOf(s *schema) []typePart {
	switch {
	case s.Ref != "":
		return []typePart{{refName(s.Ref), true}}
	case len(s.AnyOf) > 0:
		return either(s.AnyOf)
	case len(s.OneOf) > 0:
		return either(s.OneOf)
	case s.Const != nil && len(s.Type) == 0:
		return []typePart{{Text: fmt.Sprintf("%q", s.Const)}}
	case s.Items != nil:
		of := append([]typePart{{Text: "array of "}}, typeOf(s.Items)...)
		if slices.Contains(s.Type, "null") {
			of = append(of, typePart{Text: " or null"})
		}
		return of
	}
	return []typePart{{Text: strings.Join(s.Type, " or ")}}
}

func either(schemas []schema) []typePart {
	var all []typePart
	for i := range schemas {
		if i > 0 {
			all = append(all, typePart{Text: " or "})
		}
		all = append(all, typeOf(&schemas[i])...)
	}
	return all
}

// facts lists the other constraints of a schema: bounds, defaults and the like.
func facts(s *schema) []string {
	var all []string
	add := func(text string, v any) { all = append(all, text+fmt.Sprint(v)) }
	if s.Format != "" {
		add("", s.Format)
	}
	if len(s.Enum) > 0 {
		names := make([]string, 0, len(s.Enum))
		for _, v := range s.Enum {
			if v != nil {
				names = append(names, fmt.Sprint(v))
			}
		}
		add("", strings.Join(names, " · "))
	}
	if s.ExclusiveMinimum != nil {
		add("more than ", *s.ExclusiveMinimum)
	}
	if s.Minimum != nil && s.Maximum != nil {
		add("", s.Minimum.String()+" to "+s.Maximum.String())
	} else if s.Minimum != nil {
		add("at least ", *s.Minimum)
	} else if s.Maximum != nil {
		add("at most ", *s.Maximum)
	}
	for _, bound := range []struct {
		n    *int
		text string
	}{
		{s.MaxLength, "at most %s characters"}, {s.MinItems, "items: at least %s"}, {s.MaxItems, "items: at most %s"},
	} {
		if bound.n != nil {
			all = append(all, fmt.Sprintf(bound.text, strconv.Itoa(*bound.n)))
		}
	}
	if s.Default != nil {
		add("default ", s.Default)
	}
	return all
}

func indent(text json.RawMessage) string {
	var buf bytes.Buffer
	if err := json.Indent(&buf, text, "", "  "); err != nil {
		return string(text)
	}
	return buf.String()
}

func compact(text json.RawMessage) string {
	var buf bytes.Buffer
	if err := json.Compact(&buf, text); err != nil {
		return string(text)
	}
	return buf.String()
}

// prose converts text of openapi.json to HTML: an empty line separates paragraphs, and grave accents mark code.
func prose(text string) template.HTML {
	var out strings.Builder
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		out.WriteString("<p>")
		for i, part := range strings.Split(paragraph, "`") {
			if i%2 == 1 {
				out.WriteString("<code>" + template.HTMLEscapeString(part) + "</code>")
				continue
			}
			out.WriteString(template.HTMLEscapeString(part))
		}
		out.WriteString("</p>")
	}
	return template.HTML(out.String()) //nolint:gosec // every part of it is escaped above
}
