package osrm

import (
	"strconv"

	"wayside/internal/drive/nav"
	"wayside/internal/drive/nav/guide"
	"wayside/internal/entities/wire"
)

// teller appends the banners and announcements of the steps of one leg, in Mapbox's form.
type teller struct {
	guide.Teller
	banners, voice bool
	clip           func(text string) string // nil: there are none
	shown          []guide.Banner
	said           []guide.Announcement
}

func (r *Request) teller(n *nav.Network, last bool) teller {
	t := teller{}
	if !r.Steps || !r.Banners && !r.Voice {
		return t
	}
	if t.Words = n.Language(r.Language); t.Words == nil {
		return t
	}
	t.Graph, t.Imperial, t.Last, t.banners, t.voice = n.Graph, r.Imperial, last, r.Banners, r.Voice
	if r.Clip != nil {
		t.clip = func(text string) string { return r.Clip(t.Words.Code, text) }
	}
	return t
}

// append appends the members of a step that the request asks for, after a comma.
func (t *teller) append(dst []byte, steps []nav.Step, i int) []byte {
	if t.voice {
		dst = append(dst, `,"voiceInstructions":[`...)
		t.said = t.Announcements(t.said[:0], steps, i)
		for k := range t.said {
			a := &t.said[k]
			dst = append(wire.AppendComma(dst, k > 0), `{"distanceAlongGeometry":`...)
			dst = appendMetres(dst, a.At)
			dst = wire.AppendString(append(dst, `,"announcement":`...), a.Text)
			dst = wire.AppendString(append(dst, `,"ssmlAnnouncement":`...), a.SSML)
			if t.clip != nil {
				if at := t.clip(a.Text); at != "" {
					dst = wire.AppendString(append(dst, `,"clip":`...), at)
				}
			}
			dst = append(dst, '}')
		}
		dst = append(dst, ']')
	}
	if t.banners {
		dst = append(dst, `,"bannerInstructions":[`...)
		t.shown = t.Banners(t.shown[:0], steps, i)
		for k := range t.shown {
			dst = appendBanner(wire.AppendComma(dst, k > 0), &t.shown[k])
		}
		dst = append(dst, ']')
	}
	return dst
}

func appendBanner(dst []byte, b *guide.Banner) []byte {
	dst = append(dst, `{"distanceAlongGeometry":`...)
	dst = appendMetres(dst, b.At)
	dst = append(dst, `,"primary":`...)
	dst = appendLine(dst, &b.Primary)
	dst = append(dst, `,"secondary":`...)
	if len(b.Secondary.Components) == 0 {
		dst = append(dst, "null"...)
	} else {
		dst = appendLine(dst, &b.Secondary)
	}
	if len(b.Sub.Components) > 0 {
		dst = append(dst, `,"sub":`...)
		dst = appendLine(dst, &b.Sub)
	}
	return append(dst, '}')
}

func appendLine(dst []byte, l *guide.Line) []byte {
	dst = wire.AppendString(append(dst, `{"text":`...), l.Text)
	dst = append(append(append(dst, `,"type":"`...), l.Kind.String()...), '"')
	if l.Direction != guide.NoDirection {
		dst = append(append(append(dst, `,"modifier":"`...), l.Direction.String()...), '"')
	}
	if l.Degrees > 0 {
		dst = strconv.AppendInt(append(dst, `,"degrees":`...), int64(l.Degrees), 10)
	}
	side := "right"
	if l.DriveLeft {
		side = "left"
	}
	dst = append(append(append(dst, `,"driving_side":"`...), side...), `","components":[`...)
	for i := range l.Components {
		dst = appendComponent(wire.AppendComma(dst, i > 0), &l.Components[i])
	}
	return append(dst, `]}`...)
}

func appendComponent(dst []byte, c *guide.Component) []byte {
	dst = wire.AppendString(append(dst, `{"text":`...), c.Text)
	dst = append(append(append(dst, `,"type":"`...), c.Type...), '"')
	if c.Lane != nil {
		dst = append(dst, `,"directions":[`...)
		first := true
		guide.Indications(c.Lane.Marks, func(name string) {
			dst = append(append(append(wire.AppendComma(dst, !first), '"'), name...), '"')
			first = false
		})
		dst = strconv.AppendBool(append(dst, `],"active":`...), c.Lane.Valid)
		if name := guide.Arrow(c.Lane.Taken); name != "" {
			dst = append(append(append(dst, `,"active_direction":"`...), name...), '"')
		}
	}
	return append(dst, '}')
}
