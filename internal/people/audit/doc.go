// Package audit reads the audit log for accounts (D11.8): curators see the decisions about feeds, admins everything.
package audit
