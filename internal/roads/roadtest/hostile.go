package roadtest

import "strings"

// HostileNames returns names that are hard to handle: long, empty, with control characters, right to left, markup,
// lists.
func HostileNames() []string {
	names := []string{
		"", " ", "\t\n", "\x00", "a\x00b", "\x1b[31mred\x1b[0m", strings.Repeat("long ", 8000), strings.Repeat("x", 40_000), strings.Repeat("é", 255),
		"\xff\xfe", "half \xc3", "\u202egnp.exe", "\u2066isolated", "שלום רחוב", "شارع الملك", "\u200fright mark", "<script>alert(1)</script>", "&lt;", `"quoted"`, `\u0000`,
		"a;b;c", strings.Repeat("a;", 120), ";;;", "'", "''''", "L'", "’’", "...", "-", "--", "1", "12", "12;14", "007", "999999999999999999999",
		"1-2/3", "½", "Ⅷ", "①", "٣٤", "०१", "ﬁne", "ǅ", "İstanbul", "ẞ", "Ω", "Å", "e\u0301\u0301\u0301", strings.Repeat("\u0301", 200), "👩‍👩‍👧‍👦", "🚗", "\u200b", "\u00ad\u00ad", "\ufeff",
		"東京駅", "서울역", "กรุงเทพ", "Ῥόδος", "q=1&lat=2", "../../etc/passwd", "%s%n", "' OR 1=1", strings.Repeat("a ", 500), "\U0010ffff", "\ue000", "a\u2028b",
	}
	return names
}
