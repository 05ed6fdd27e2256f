package feed

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"

	"wayside/internal/ground/mapdata"
)

// callInterval is the interval at which the service checks whether e-mails to curators or owners are due because time
// has passed.
const callInterval = time.Minute

// maxSilentFeeds bounds how long one look for silent feeds holds their locks.
const maxSilentFeeds = 200

// maxListedFeeds is the number of waiting feeds that one e-mail names; it counts the others.
const maxListedFeeds = 20

// RunCalls e-mails curators about feeds and apps that wait for review, and owners about push feeds that fell silent,
// until ctx ends. Each node runs it; the store lets only one of them send each e-mail.
func (s *Service) RunCalls(ctx context.Context, log *slog.Logger) error {
	tick := time.NewTicker(callInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		case <-s.Signals.ReviewQueued.C():
		}
		if err := s.Call(ctx); err != nil && ctx.Err() == nil {
			log.Warn("cannot queue e-mails to curators and owners; it is tried again in a minute", "error", err)
		}
	}
}

// Call queues the e-mails that are due now.
func (s *Service) Call(ctx context.Context) error {
	return errors.Join(s.callCurators(ctx), s.Store.WarnSilent(ctx, s.now(), maxSilentFeeds))
}

func (s *Service) callCurators(ctx context.Context) error {
	queue, err := s.Store.WaitingFeeds(ctx, mapdata.MaxWaiting)
	if err != nil {
		return fmt.Errorf("list waiting feeds: %w", err)
	}
	if s.Apps {
		waiting, err := s.Store.WaitingApps(ctx, mapdata.MaxWaiting)
		if err != nil {
			return fmt.Errorf("list waiting apps: %w", err)
		}
		queue = append(queue, waiting...)
		slices.SortStableFunc(queue, func(a, b mapdata.WaitingFeed) int { return a.Since.Compare(b.Since) })
	}
	if len(queue) == 0 {
		return s.Store.NothingWaits(ctx)
	}
	curators, err := s.Store.Curators(ctx)
	if err != nil {
		return fmt.Errorf("list curators: %w", err)
	}
	now := s.now()
	for _, curator := range curators {
		// Nobody decides on their own feeds (D11.9).
		others := slices.DeleteFunc(slices.Clone(queue), func(w mapdata.WaitingFeed) bool { return slices.Contains(w.Managers, curator) })
		err := s.Store.CallCurator(ctx, curator, func(calls *mapdata.ReviewCalls) *mapdata.Email {
			kind, due := calls.Next(others, now)
			if !due {
				return nil
			}
			return reviewEmail(curator, kind, others, now)
		})
		if err != nil {
			return fmt.Errorf("e-mail a curator: %w", err)
		}
	}
	s.Signals.MailQueued.Notify()
	return nil
}

// appMark follows the age of an app in the list of an e-mail.
const appMark = "a"

// reviewEmail returns an e-mail that lists the waiting feeds and apps, each as its age in minutes, a mark of apps, and
// its name.
func reviewEmail(to mapdata.AccountID, kind mapdata.EmailKind, queue []mapdata.WaitingFeed, now time.Time) *mapdata.Email {
	if kind == mapdata.EmailReviewReminder {
		queue = slices.DeleteFunc(slices.Clone(queue), func(w mapdata.WaitingFeed) bool {
			return w.Since.After(now.Add(-mapdata.ReviewReminderAge))
		})
	}
	var lines []string
	for i := range queue[:min(len(queue), maxListedFeeds)] {
		age := strconv.Itoa(int(now.Sub(queue[i].Since) / time.Minute))
		if queue[i].IsApp {
			age += appMark
		}
		lines = append(lines, age+" "+strings.Join(strings.Fields(queue[i].Name), " "))
	}
	data := map[string]string{"waiting": strconv.Itoa(len(queue)), "feeds": strings.Join(lines, "\n")}
	if slices.ContainsFunc(queue, func(w mapdata.WaitingFeed) bool { return w.IsApp }) {
		data["apps"] = "some" // the e-mail's words cover feeds and apps
	}
	return &mapdata.Email{Account: to, Kind: kind, At: now, Due: now, Data: data}
}

// ReviewTime is the duration of recent reviews.
type ReviewTime struct {
	Median    time.Duration
	Decisions int // 0: there is no median
}

const (
	reviewTimeSpan  = 30 * 24 * time.Hour
	maxReviewTimes  = 1000 // the newest decisions, from which the median is computed
	reviewTimeCache = 5 * time.Minute
)

// ReviewTime returns the median time from when a feed began to wait until a curator decided, of the decisions of the last
// 30 days. It may be five minutes old.
func (s *Service) ReviewTime(ctx context.Context) (ReviewTime, error) {
	now := s.now()
	return s.reviewTimes.get(ctx, mapdata.FeedID{}, now, func() (ReviewTime, time.Time, error) {
		all, err := s.Store.ReviewTimes(ctx, now.Add(-reviewTimeSpan), maxReviewTimes)
		if err != nil {
			return ReviewTime{}, time.Time{}, fmt.Errorf("read times of reviews: %w", err)
		}
		slices.Sort(all)
		taken := ReviewTime{Decisions: len(all)}
		if n := len(all); n > 0 {
			taken.Median = (all[(n-1)/2] + all[n/2]) / 2
		}
		return taken, now.Add(reviewTimeCache), nil
	})
}

// maxLooks is the number of curators who have a review open that it names.
const maxLooks = 10

// LookAtReview records that the actor opened the review of a feed, and lists the other curators who did within the last
// ten minutes.
func (s *Service) LookAtReview(ctx context.Context, by mapdata.Actor, id mapdata.FeedID) ([]mapdata.ReviewLook, error) {
	if !by.MayReview() || by.Account().IsZero() {
		return nil, mapdata.Describe(mapdata.ErrForbidden, "Only curators review feeds.")
	}
	others, err := s.Store.LookAtReview(ctx, id, by.Account(), s.now(), maxLooks)
	if err != nil {
		return nil, fmt.Errorf("note who looks: %w", err)
	}
	return others, nil
}
