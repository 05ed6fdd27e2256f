package valkey

import (
	"context"
	"time"

	"github.com/valkey-io/valkey-go"
)

// Publish sends a message to all nodes that follow the channel now, this one included. It is not stored.
func (c *Conn) Publish(ctx context.Context, channel string, message []byte) error {
	return c.do(ctx, "publish", func(ctx context.Context) error {
		return c.client.Do(ctx, c.client.B().Publish().Channel(prefix+channel).Message(valkey.BinaryString(message)).Build()).Error()
	})
}

// Follow receives the messages of a channel until ctx ends. It calls begun at each subscription, the first and those after a break,
// because messages published before are lost. Neither function may block.
func (c *Conn) Follow(ctx context.Context, channel string, begun func(), receive func(message []byte)) error {
	again := time.NewTicker(pingInterval)
	defer again.Stop()
	for ctx.Err() == nil {
		if c.Up() {
			within := valkey.WithOnSubscriptionHook(ctx, func(s valkey.PubSubSubscription) {
				if s.Kind == "subscribe" {
					begun()
				}
			})
			// The error does not matter: the loop subscribes again, and pings find out whether the server answers.
			_ = c.client.Receive(within, c.client.B().Subscribe().Channel(prefix+channel).Build(), func(m valkey.PubSubMessage) {
				receive([]byte(m.Message))
			})
		}
		select {
		case <-ctx.Done():
		case <-again.C:
		}
	}
	return nil
}
