// Package console is the pages for people: rendered on the server over the use cases, in English, German or French,
// without scripts but for maps and passkeys. httpapi mounts them in its one table of routes, looks up who visits, refuses
// writes from other sites and counts; everything between a Visitor and a page is here.
//
// To add a page:
//
//  1. A line in a …Routes method of its group's file, which Routes lists: method, path, who may, handler. Who is held to
//     before the handler runs: guests who open a page for accounts are led to /sign-in and come back, everybody else is
//     told no. A handler checks that a thing is the visitor's own (the use cases say mapdata.ErrNotFound).
//     The path's {values} must be known to the test that walks the table (internal/httpapi/roles_test.go), and
//     docs/roles.md is made anew by: go test ./internal/httpapi -run TestRolesDocument -update.
//  2. pages/<name>.html, which defines "title" (plain text) and "main". Its dot is a view: .Data is what the handler gave,
//     .Visitor who asks, .Account the account or nil. Functions: t, text, count, num, day, moment, ago, span, link,
//     strong, key; funcs in render.go says what each does. Text of others goes into t as an argument or between <bdi>.
//  3. Its words, in words/{en,de,fr}/<group>.txt; words.HTML escapes and isolates what is put in.
//  4. Its link in the header, in navigation (view.go), if it has one. Links to pages that are not there are left out.
//
// A handler that shows something ends with c.show(w, r, v, &Page{Name: …, Data: …}). Errors are returned as they come:
// httpapi finds their status, and Refuse tells them on a page. A form is read with readForm; its handler ends with
// seeOther to a page of ours, to which ?done=<what> has it say the word "done.<what>" on top. What is wrong with a form
// stays in it: keep a Form in Data, fill it with form.refuse(err) or form.wrong(field, text), and show the page again with
// status 422. In the template: {{template "summary" .Form}} on top; id and name of an input are the field's name; its value
// is {{.Form.Value "name"}}, behind which comes {{if .Form.Has "name"}}aria-invalid="true"
// aria-describedby="name-wrong"{{end}}; under it stands {{template "wrong" (.Form.Of "name")}}.
//
// What destroys something has a page of its own that asks, and a form there that posts. A page that needs a script names
// it in Page.Scripts, and gets the policy that lets our scripts run; all others may run nothing. Scripts are built from
// web/console.
//
// A map: Scripts: []string{MapScript}, and where it is to be <div class="map" data-feed-map data-source="{{…}}" hidden>,
// the address of GeoJSON such as GET /v2/feeds/{id}/entities answers, or data-pins="{{…}}" with the GeoJSON itself; and
// data-attribution="{{…}}" if it must be displayed. The script shows it, says in words what it cannot draw, and adds its
// buttons behind it. Without scripts it stays hidden: the page must say elsewhere what lies in it.
package console
