/** The connector of the template that is a program in Python, held to the kit against this host. */
import { resolveHostModules } from '../server/extensions.ts'

resolveHostModules()
await import('../plugin-template/python/conformance.test.ts')
