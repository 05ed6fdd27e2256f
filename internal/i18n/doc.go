// Package i18n reads what is said in one language: lines of «key = text», among empty lines and comments (#). Pages and
// e-mails keep their words so.
package i18n
