/** What went wrong in the shop on earlier days, and what its people did about it. */
import type { DemoStep } from '../alerts/api.ts'

/** The people of the demo, who own its tables. */
export const PEOPLE = {
  ana: { email: 'ana@demo.example', fullName: 'Ana Silva' },
  li: { email: 'li@demo.example', fullName: 'Li Wei' },
} as const
type Person = keyof typeof PEOPLE

export interface PastStep extends Omit<DemoStep, 'assigneeId'> {
  /** Minutes after the checks of the day. */
  after: number
  by: Person
  /** Whether the person takes the incident on. */
  takesOn?: true
  /** Whether the schema is accepted as it is. */
  acceptsSchema?: true
}

export interface PastFault {
  daysAgo: number
  /** Tables whose checks find it, also those that have no long past. */
  tables: string[]
  /** SQL of the shop, after the rows of the day came. */
  broken: string
  /** SQL that corrects the rows before the next day; without it, the next day is good by itself. */
  repaired?: string
  steps: PastStep[]
}

/** A person acknowledges, says what it is, and resolves it; without `resolved`, the next checks do. */
function handled(
  by: Person,
  minutes: [acknowledged: number, commented: number, resolved?: number],
  { comment, cause, action }: { comment: string; cause?: string; action?: string },
): PastStep[] {
  const [acknowledged, commented, resolved] = minutes
  return [
    { after: acknowledged, by, to: 'acknowledged', takesOn: true },
    { after: commented, by, comment },
    ...(resolved === undefined
      ? []
      : [
          {
            ...{ after: resolved, by, to: 'resolved' as const, reason: action ?? 'The rows were corrected' },
            resolution: {
              ...(cause && { root_cause_category: cause, root_cause_detail: comment }),
              ...(action && { action_category: 'data_fix', action_detail: action }),
            },
          },
        ]),
  ]
}

const newest = (table: string, count: number) => `id > (select max(id) from ${table}) - ${count}`

/** Statuses of orders that the shop's own form allowed for a while. */
const wrongStatus = (status: string, count: number, right: string) => ({
  tables: ['orders'],
  broken: `update orders set status = '${status}' where ${newest('orders', count)}`,
  repaired: `update orders set status = '${right}' where status = '${status}'`,
})

const wrongDates = (count: number) => ({
  tables: ['shipments'],
  broken: `update shipments set shipped_on = strftime('%d.%m.%Y', created_at) where ${newest('shipments', count)}`,
  repaired: `update shipments set shipped_on = date(created_at) where shipped_on like '__.__.____'`,
})

const repeatedReferences = (count: number) => ({
  tables: ['payments'],
  broken: `update payments set reference = 'PAY-' || (id - ${count}) where ${newest('payments', count)}`,
  repaired: `update payments set reference = 'PAY-' || id`,
})

const wrongAddresses = (count: number) => ({
  tables: ['customers'],
  broken: `update customers set email = replace(email, '@', ' at ') where ${newest('customers', count)}`,
  repaired: `update customers set email = replace(email, ' at ', '@')`,
})

const negativeAmounts = (count: number) => ({
  tables: ['payments'],
  broken: `update payments set amount = -amount where ${newest('payments', count)}`,
  repaired: `update payments set amount = abs(amount)`,
})

const lostProducts = (count: number) => ({
  tables: ['order_items'],
  broken: `pragma foreign_keys = off;
    update order_items set product_id = 9000 + id % 3 where ${newest('order_items', count)};
    pragma foreign_keys = on`,
  repaired: `update order_items set product_id = 1 + id % 60 where product_id >= 9000`,
})

interface Hit {
  tables: string[]
  broken: string
  repaired: string
}

/** One cause that several tables show. */
const together = (...hits: Hit[]): Hit => ({
  tables: hits.flatMap(({ tables }) => tables),
  broken: hits.map(({ broken }) => broken).join(';'),
  repaired: hits.map(({ repaired }) => repaired).join(';'),
})

/** The partner's import brings totals in cents, and what follows from them. */
const wrongTotals = (count: number) => ({
  tables: ['partner_imports'],
  broken: `update partner_imports set total = total * 100 where ${newest('partner_imports', count)}`,
  repaired: `update partner_imports set total = total / 100 where total > 1000`,
})

/** A column that a release added, which is accepted later. */
const newColumn = (table: string, column: string, minutes: number, comment: string) => ({
  tables: [],
  broken: `alter table ${table} add column ${column}`,
  steps: [
    { after: minutes, by: 'li', to: 'acknowledged', comment },
    { after: minutes + 4, by: 'li', acceptsSchema: true },
  ] satisfies PastStep[],
})

/** The oldest first. */
export const PAST_FAULTS: PastFault[] = [
  {
    daysAgo: 57,
    ...wrongStatus('payed', 3, 'paid'),
    steps: handled('ana', [24, 41, 130], {
      comment: 'The new order form writes "payed".',
      cause: 'upstream_change',
      action: 'Form mended, rows corrected',
    }),
  },
  {
    daysAgo: 52,
    ...wrongDates(8),
    steps: handled('li', [65, 70], { comment: 'Carrier 2 sends day.month.year. They mend it tonight.' }),
  },
  {
    daysAgo: 46,
    ...together(repeatedReferences(2), negativeAmounts(1), wrongStatus('double', 2, 'paid')),
    steps: handled('ana', [12, 30, 95], {
      comment: 'The payment job ran twice after a restart.',
      cause: 'pipeline_failure',
      action: 'Took the second run out',
    }),
  },
  { daysAgo: 41, ...newColumn('products', 'brand text', 180, 'Planned: brands come with the next release.') },
  {
    daysAgo: 36,
    // The tracker was down: no views came for a day, so that the table was late.
    tables: ['page_views'],
    broken: `delete from page_views where created_at > (select datetime(max(created_at), '-27 hours') from page_views)`,
    steps: [
      ...handled('li', [8, 20], { comment: 'The tracker rejects events since its certificate expired.' }),
      { after: 300, by: 'li', comment: 'The certificate is renewed. Events arrive again.' },
      {
        ...{ after: 420, by: 'li' },
        postMortem:
          'The certificate of the tracker expired, and a day of page views is lost. It is renewed automatically from now on.',
      },
    ],
  },
  {
    daysAgo: 31,
    ...wrongAddresses(5),
    steps: handled('ana', [33, 50], { comment: 'An import of a fair: typed by hand. I correct them.' }),
  },
  {
    daysAgo: 28,
    ...lostProducts(3),
    steps: handled('li', [15, 42, 160], {
      comment: 'Products were removed while orders of them were on their way.',
      cause: 'upstream_change',
      action: 'Products restored',
    }),
  },
  {
    daysAgo: 25,
    ...together(wrongStatus('returned', 4, 'cancelled'), negativeAmounts(4)),
    steps: handled('ana', [55, 61, 240], {
      comment: 'Returns are cancelled orders. The shop has a new state.',
      cause: 'upstream_change',
      action: 'Mapped to cancelled',
    }),
  },
  {
    daysAgo: 22,
    ...negativeAmounts(2),
    steps: handled('ana', [90, 100], { comment: 'Refunds were booked as payments.' }),
  },
  {
    daysAgo: 20,
    ...newColumn('shipments', 'delivered_on text', 45, 'Planned: dates of delivery, for the late list.'),
  },
  {
    daysAgo: 17,
    ...together(wrongStatus('in transit', 5, 'shipped'), wrongDates(6), repeatedReferences(1)),
    steps: handled('li', [20, 26, 75], {
      comment: 'Carrier 2 again: its update writes statuses and dates of its own.',
      cause: 'upstream_change',
      action: 'We parse both forms now',
    }),
  },
  {
    daysAgo: 15,
    ...wrongAddresses(3),
    steps: handled('ana', [140, 150], { comment: 'Three addresses of yesterday. Corrected tonight.' }),
  },
  {
    daysAgo: 12,
    ...together(wrongTotals(2), wrongStatus('shiped', 2, 'shipped'), repeatedReferences(2), wrongDates(3)),
    steps: [
      ...handled('ana', [6, 18, 110], {
        comment: 'Two totals of the partner are in cents.',
        cause: 'upstream_change',
        action: 'Import repeated',
      }),
      {
        ...{ after: 200, by: 'ana' },
        postMortem:
          'The partner changed its export for two orders. It promised to announce changes; the rule stays critical.',
      },
    ],
  },
  {
    daysAgo: 9,
    ...lostProducts(2),
    steps: handled('li', [31, 40], { comment: 'The same removal as last month. We ask for a soft delete.' }),
  },
  {
    daysAgo: 7,
    ...together(wrongTotals(1), repeatedReferences(1), wrongStatus('double', 1, 'paid')),
    steps: handled('ana', [9, 22, 58], {
      comment: 'The partner sent one order twice, in cents.',
      cause: 'pipeline_failure',
      action: 'Took the second one out',
    }),
  },
  {
    daysAgo: 4,
    ...negativeAmounts(1),
    steps: handled('ana', [75, 80], { comment: 'A refund that was booked as a payment.' }),
  },
  {
    daysAgo: 2,
    ...wrongStatus('Paid', 2, 'paid'),
    steps: handled('ana', [28, 35, 66], {
      comment: 'Written by hand in the back office.',
      cause: 'human_error',
      action: 'Rows corrected',
    }),
  },
]
