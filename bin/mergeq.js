#!/usr/bin/env node
'use strict'
if (process.argv[2] === '--version' && process.argv.length === 3) {
  require('node:fs').writeSync(1, `${require('../package.json').version}\n`)
} else {
  require('../dist/mergeq.cjs')
}
