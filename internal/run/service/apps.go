package service

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"

	"wayside/internal/ground/safehttp"
	"wayside/internal/ground/secret"
	"wayside/internal/ground/signal"
	"wayside/internal/people/apps"
	"wayside/internal/run/config"
)

// newApps makes the use case of apps. It fetches no pages of apps until a client is set (see lookAt).
func newApps(o AdminOptions, store Store, box *secret.Box, signals signal.Set) (*apps.Service, error) {
	base, err := url.Parse(o.Config.BaseURL)
	if err != nil {
		return nil, fmt.Errorf("base_url: %w", err)
	}
	proofs, err := keyFor(o.Config, "proofs of apps")
	if err != nil {
		return nil, err
	}
	return apps.New(apps.Config{
		Store: store, Now: o.Now, Log: o.Log, MailQueued: signals.MailQueued, ReviewQueued: signals.ReviewQueued,
		AppsChanged: signals.AppsChanged, ProofKey: proofs,
		Rules: apps.Rules{BaseURL: base, Hosts: o.Config.HTTP.Hosts, DevOrigins: o.Config.Apps.DevOrigins, CheckURL: checkURL, CheckHost: safehttp.CheckHost},
		Seal:  box.SealConfig, Open: box.OpenConfig,
	}), nil
}

// lookAt returns the function that fetches the page of an app (D16.2). Only the pages of origins for developing apps may be on
// private addresses.
func lookAt(web *safehttp.Client, rules *apps.Rules) func(context.Context, string) (*apps.Page, error) {
	return func(ctx context.Context, address string) (*apps.Page, error) {
		target, err := pageURL(address, rules)
		if err != nil {
			return nil, &apps.UnreachableError{Advice: err.Error()}
		}
		answer, err := web.Fetch(ctx, safehttp.Request{URL: target, Accept: "text/html, */*;q=0.8", SameOrigin: true, AnyStatus: true, CloseAfter: true, MaxBody: apps.MaxPage})
		if err != nil {
			return nil, unreadable(err)
		}
		page := apps.Page{
			Status: answer.Status, Policies: answer.Header.Values("Content-Security-Policy"), FrameOptions: answer.Header.Values("X-Frame-Options"),
		}
		if page.Body, err = io.ReadAll(answer.Body); err != nil {
			_ = answer.Body.Close() // the failure to read is the better error
			return nil, unreadable(err)
		}
		return apps.NewPage(page), answer.Body.Close()
	}
}

// unreadable turns an error of a fetch into one for the developer if the page or its network is at fault.
func unreadable(err error) error {
	var failed *safehttp.Error
	if errors.As(err, &failed) {
		return &apps.UnreachableError{Advice: "cannot be read. " + failed.Advice}
	}
	return err
}

func pageURL(address string, rules *apps.Rules) (*safehttp.URL, error) {
	u, err := url.Parse(address)
	if err != nil || !rules.Exempt(u) {
		return safehttp.CheckURL(address)
	}
	u.RawQuery, u.ForceQuery, u.Fragment = "", false, "" // which an operator's URL may not have
	return safehttp.OperatorURL(u.String())
}

// LookAtPages makes the commands beside a service fetch pages of apps as the service does, until done is called.
func (a *Admin) LookAtPages(cfg *config.Config, version string) (done func(), err error) {
	web, err := NewFetcher(cfg, version)
	if err != nil {
		return nil, err
	}
	a.Apps.Look = lookAt(web, &a.Apps.Rules)
	return web.Close, nil
}
