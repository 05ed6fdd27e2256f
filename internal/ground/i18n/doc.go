// Package i18n reads the texts of one language: lines of «key = text», among empty lines and comments (#). Pages and
// e-mails store their words in this form.
package i18n
