package service

import (
	"os"
	"testing"

	"wayside/internal/proof/systemtest"
	"wayside/internal/proof/testenv"
)

func TestMain(m *testing.M) { os.Exit(systemtest.Main(m, new(testenv.Servers))) }
