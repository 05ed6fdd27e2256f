package valkey

import (
	"context"
	"time"

	"github.com/valkey-io/valkey-go"
)

// Publish gives a message to all nodes that follow the channel now, this one too. Nothing is kept for those who do not.
func (c *Conn) Publish(ctx context.Context, channel string, message []byte) error {
	return c.do(ctx, "publish", func(ctx context.Context) error {
		return c.client.Do(ctx, c.client.B().Publish().Channel(prefix+channel).Message(valkey.BinaryString(message)).Build()).Error()
	})
}

// Follow takes the messages of a channel until ctx ends. begun is called whenever it begins to listen, at first and after
// each break: what was published before is missed. Neither may wait.
func (c *Conn) Follow(ctx context.Context, channel string, begun func(), took func(message []byte)) error {
	again := time.NewTicker(lookEvery)
	defer again.Stop()
	for ctx.Err() == nil {
		if c.Up() {
			within := valkey.WithOnSubscriptionHook(ctx, func(s valkey.PubSubSubscription) {
				if s.Kind == "subscribe" {
					begun()
				}
			})
			// How it ended is of no interest: it is tried again, and whether the server is there is said elsewhere.
			_ = c.client.Receive(within, c.client.B().Subscribe().Channel(prefix+channel).Build(), func(m valkey.PubSubMessage) {
				took([]byte(m.Message))
			})
		}
		select {
		case <-ctx.Done():
		case <-again.C:
		}
	}
	return nil
}
