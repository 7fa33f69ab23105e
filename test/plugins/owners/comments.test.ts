import t from 'tap'
import { parseOwners } from '../../../plugins/owners/reported-owners.ts'

t.test('owners are read from comments', async t => {
  for (const [comment, owners] of [
    ['owner: team-x', [{ name: 'team-x' }]],
    ['All orders. Owner: Data Platform. Loaded at night.', [{ name: 'Data Platform' }]],
    ['@owner jane@example.com', [{ email: 'jane@example.com' }]],
    ['@owner: @sales', [{ name: 'sales' }]],
    ['@owner jane@example.com is asked first', [{ email: 'jane@example.com' }]],
    ['owner = "Core Team", Jane <jane@example.com>', [{ name: 'Core Team' }]],
    [
      'owners: a@example.com, Finance and b@example.com.\nMore',
      [{ email: 'a@example.com' }, { name: 'Finance' }, { email: 'b@example.com' }],
    ],
    ['owner: a; pii: yes', [{ name: 'a' }]],
    ['The owner of an order pays.', []],
    ['owner: the id of the user that the row belongs to', []],
    ['homeowner: x', []],
    ['sla@owner.example.com', []],
    ['', []],
  ] as const)
    t.strictSame(parseOwners(comment), owners, comment)
})
