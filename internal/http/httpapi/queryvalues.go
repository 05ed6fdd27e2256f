package httpapi

import (
	"errors"
	"net/url"
	"strings"
)

// queryValues are the parameters of a query string in their order. It is parsed as url.ParseQuery does, but into memory of the
// caller and without a map, because a read has three to six parameters.
type queryValues []queryValue

type queryValue struct{ Name, Value string }

// maxQueryValues is the most parameters of a query, as in url.ParseQuery.
const maxQueryValues = 10_000

// Errors of AppendQuery beside those of url.QueryUnescape.
var (
	errTooManyValues = errors.New("more than 10000 parameters")
	errSemicolon     = errors.New("a semicolon between parameters")
)

// AppendQuery appends the parameters of a query string. It leaves out malformed ones and returns the first one's error.
func AppendQuery(values queryValues, query string) (queryValues, error) {
	if strings.Count(query, "&") >= maxQueryValues {
		return values, errTooManyValues
	}
	var failed error
	for query != "" {
		var pair string
		pair, query, _ = strings.Cut(query, "&")
		if pair == "" {
			continue
		}
		v, err := parsePair(pair)
		if err == nil {
			values = append(values, v)
		} else if failed == nil {
			failed = err
		}
	}
	return values, failed
}

func parsePair(pair string) (queryValue, error) {
	if strings.Contains(pair, ";") {
		return queryValue{}, errSemicolon
	}
	name, value, _ := strings.Cut(pair, "=")
	name, err := url.QueryUnescape(name)
	if err != nil {
		return queryValue{}, err
	}
	value, err = url.QueryUnescape(value)
	return queryValue{name, value}, err
}

// get returns the first value with the name, and how many there are.
func (q queryValues) get(name string) (first string, count int) {
	for i := range q {
		if q[i].Name != name {
			continue
		}
		if count == 0 {
			first = q[i].Value
		}
		count++
	}
	return first, count
}

// Has reports whether there is a value with the name.
func (q queryValues) Has(name string) bool {
	_, count := q.get(name)
	return count > 0
}
