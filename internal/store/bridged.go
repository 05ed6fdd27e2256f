package store

import (
	"encoding/json"
	"fmt"

	"wayside/internal/ground/mapdata"
)

// bridgedTexts returns the stored form of a feed's skips and validators; empty: none.
func bridgedTexts(p *mapdata.Polling) (skips, validators string, err error) {
	if len(p.Skips) > 0 {
		text, err := json.Marshal(p.Skips)
		if err != nil {
			return "", "", fmt.Errorf("write skips: %w", err)
		}
		skips = string(text)
	}
	if len(p.Validators.Documents) > 0 {
		text, err := json.Marshal(p.Validators)
		if err != nil {
			return "", "", fmt.Errorf("write validators: %w", err)
		}
		validators = string(text)
	}
	return skips, validators, nil
}

func parseBridged(p *mapdata.Polling, skips, validators string) error {
	if skips != "" {
		if err := json.Unmarshal([]byte(skips), &p.Skips); err != nil {
			return fmt.Errorf("skips: %w", err)
		}
	}
	if validators != "" {
		if err := json.Unmarshal([]byte(validators), &p.Validators); err != nil {
			return fmt.Errorf("validators: %w", err)
		}
	}
	return nil
}
