package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// costItem is one priced component, as the leaderboard takes it.
type costItem struct {
	Component string  `json:"component"`
	Condition string  `json:"condition"` // NEW or USED
	Currency  string  `json:"currency"`  // three capitals
	Price     float64 `json:"price"`
	Year      *int    `json:"yearPurchased,omitempty"`
}

var currency = regexp.MustCompile(`^[A-Z]{3}$`)

// hardwareCost reads component|condition|year|price|currency;… or a JSON array
// of such items.
func hardwareCost(text string) (json.RawMessage, error) {
	var items []costItem
	if strings.HasPrefix(strings.TrimSpace(text), "[") {
		if err := json.Unmarshal([]byte(text), &items); err != nil {
			return nil, fmt.Errorf("not a JSON array of components: %w", err)
		}
	} else {
		for part := range strings.SplitSeq(strings.TrimSuffix(text, ";"), ";") {
			item, err := compactCost(part)
			if err != nil {
				return nil, err
			}
			items = append(items, item)
		}
	}
	for i := range items {
		if err := items[i].check(); err != nil {
			return nil, err
		}
	}
	return json.Marshal(items)
}

func compactCost(text string) (costItem, error) {
	fields := strings.Split(text, "|")
	if len(fields) != 5 {
		return costItem{}, fmt.Errorf("%q has %d fields: write component|condition|year|price|currency", text, len(fields))
	}
	for i := range fields {
		fields[i] = strings.TrimSpace(fields[i])
	}
	item := costItem{Component: fields[0], Condition: strings.ToUpper(fields[1]), Currency: fields[4]}
	if fields[2] != "" {
		year, err := strconv.Atoi(fields[2])
		if err != nil {
			return item, fmt.Errorf("%q is no year", fields[2])
		}
		item.Year = &year
	}
	price, err := strconv.ParseFloat(fields[3], 64)
	if err != nil {
		return item, fmt.Errorf("%q is no price", fields[3])
	}
	item.Price = price
	return item, nil
}

func (c *costItem) check() error {
	switch {
	case c.Component == "":
		return fmt.Errorf("a component has no name")
	case c.Condition != "NEW" && c.Condition != "USED":
		return fmt.Errorf("condition of %q is %q: write NEW or USED", c.Component, c.Condition)
	case !(c.Price > 0) || c.Price > 1e12:
		return fmt.Errorf("price of %q must be above 0", c.Component)
	case !currency.MatchString(c.Currency):
		return fmt.Errorf("currency of %q is %q: write three capitals such as USD", c.Component, c.Currency)
	case c.Year != nil && (*c.Year < 1980 || *c.Year > time.Now().Year()):
		return fmt.Errorf("year of %q is %d: write one from 1980 to now", c.Component, *c.Year)
	}
	return nil
}
