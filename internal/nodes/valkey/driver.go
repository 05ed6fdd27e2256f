package valkey

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/valkey-io/valkey-go"
)

// Get returns the values of the keys in their order, nil for keys without one.
func (c *Conn) Get(ctx context.Context, keys []string) ([][]byte, error) {
	if len(keys) == 0 {
		return nil, ctx.Err()
	}
	full := make([]string, len(keys))
	for i, key := range keys {
		full[i] = prefix + key
	}
	values := make([][]byte, len(keys))
	err := c.do(ctx, "get", func(ctx context.Context) error {
		got, err := c.client.Do(ctx, c.client.B().Mget().Key(full...).Build()).ToArray()
		if err != nil {
			return err
		}
		if len(got) != len(keys) {
			return errors.New("the server answered something else")
		}
		for i := range got {
			if got[i].IsNil() {
				continue
			}
			if values[i], err = got[i].AsBytes(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return values, nil
}

// swapScript replaces the value of a key if it is the expected one.
const swapScript = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return {0} end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
return {1}`

// Swap stores value under key for ttl if the key holds exactly old now (nil: no value), and reports whether it did. After an error
// the value may have been stored or not.
func (c *Conn) Swap(ctx context.Context, key string, old, value []byte, ttl time.Duration) (bool, error) {
	millis := max(1, ttl.Milliseconds())
	if old != nil {
		args := []string{valkey.BinaryString(old), valkey.BinaryString(value), strconv.FormatInt(millis, 10)}
		done, err := c.Eval(ctx, c.swap, []string{key}, args)
		return err == nil && len(done) == 1 && done[0] == 1, err
	}
	done := false
	err := c.do(ctx, "set", func(ctx context.Context) error {
		set := c.client.B().Set().Key(prefix + key).Value(valkey.BinaryString(value)).Nx().PxMilliseconds(millis).Build()
		err := c.client.Do(ctx, set).Error()
		if valkey.IsValkeyNil(err) {
			return nil // the key has a value
		}
		done = err == nil
		return err
	})
	return done && err == nil, err
}

// Delete removes a key. It does not fail if the key is missing.
func (c *Conn) Delete(ctx context.Context, key string) error {
	return c.do(ctx, "delete", func(ctx context.Context) error {
		return c.client.Do(ctx, c.client.B().Del().Key(prefix+key).Build()).Error()
	})
}
