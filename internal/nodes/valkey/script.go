package valkey

import (
	"context"

	"github.com/valkey-io/valkey-go"
)

// Script is a program in Lua that the server runs in one step. It returns whole numbers.
type Script struct{ lua *valkey.Lua }

// NewScript returns a script with the given text.
func NewScript(text string) *Script { return &Script{valkey.NewLuaScript(text)} }

// Eval runs a script and returns its numbers. After an error the script may have run or not.
func (c *Conn) Eval(ctx context.Context, s *Script, keys, args []string) ([]int64, error) {
	full := make([]string, len(keys))
	for i, key := range keys {
		full[i] = prefix + key
	}
	var numbers []int64
	err := c.do(ctx, "script", func(ctx context.Context) (err error) {
		numbers, err = s.lua.Exec(ctx, c.client, full, args).AsIntSlice()
		return err
	})
	return numbers, err
}
