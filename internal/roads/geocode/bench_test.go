package geocode_test

import (
	"math/rand/v2"
	"testing"

	"wayside/internal/roads/geocode"
	"wayside/internal/roads/roadtest"
)

// BenchmarkTyping searches for the beginnings of names of Milan, each with a typo, from a place near them.
func BenchmarkTyping(b *testing.B) {
	content := roadtest.Extract(b, "milan-otp.osm.pbf")
	x, all := build(b, content), things(b, content)
	random := rand.New(rand.NewPCG(5, 6))
	queries := make([]geocode.Query, 4096)
	for i := range queries {
		one := all[random.IntN(len(all))]
		text := []rune(misspell(random, one.name))
		queries[i] = geocode.Query{Text: string(text[:min(len(text), 3+random.IntN(len(text)))]), Near: one.line[0], Biased: true, Limit: 10, Language: -1}
	}
	var results []geocode.Result
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		results, _ = x.Search(b.Context(), results[:0], &queries[i%len(queries)])
	}
}
