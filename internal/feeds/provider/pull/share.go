package pull

import (
	"context"
	"sync"

	"wayside/internal/ground/mapdata"
)

// shares gives each account a number of places, so that feeds of one account that hang, or are slow to read, take no place from those of
// other accounts. A poll that waits for a place of its account holds nothing that others need.
type shares struct {
	places int // of one account

	mu        sync.Mutex
	byAccount map[mapdata.AccountID]*share // of accounts that hold or wait for a place
}

type share struct {
	taken chan struct{}
	users int
}

func newShares(places int) *shares {
	return &shares{places: places, byAccount: make(map[mapdata.AccountID]*share)}
}

// enter waits for a place of the account. It fails only with the error of ctx; otherwise the caller releases the place with leave, once.
func (s *shares) enter(ctx context.Context, account mapdata.AccountID) (leave func(), err error) {
	s.mu.Lock()
	own := s.byAccount[account]
	if own == nil {
		own = &share{taken: make(chan struct{}, s.places)}
		s.byAccount[account] = own
	}
	own.users++
	s.mu.Unlock()
	select {
	case own.taken <- struct{}{}:
		return func() {
			<-own.taken
			s.forget(account, own)
		}, nil
	case <-ctx.Done():
		s.forget(account, own)
		return nil, ctx.Err()
	}
}

func (s *shares) forget(account mapdata.AccountID, own *share) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if own.users--; own.users == 0 {
		delete(s.byAccount, account)
	}
}
