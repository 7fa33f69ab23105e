import { useState } from 'preact/hooks'
import type { AlertEventType, AlertRule, CreateAlertRuleRequest, Destination } from 'tidemark/client'
import { Checkboxes, Field, Form } from '../../forms/fields.tsx'
import { useForm } from '../../forms/form.ts'
import { readValues } from '../../forms/schema.ts'
import { sortKinds } from '../../lib/alert-kinds.ts'
import { api, bodyOf, isMissing } from '../../lib/api.ts'
import { useData } from '../../lib/data.ts'
import { navigate } from '../../lib/router.ts'
import { canWrite } from '../../lib/session.ts'
import { ConfirmDialog } from '../../parts/confirm.tsx'
import { useTitle } from '../../parts/frame.tsx'
import { Help } from '../../parts/help.tsx'
import { notify } from '../../parts/notices.tsx'
import { Empty, Loaded, MissingPage } from '../../parts/states.tsx'
import { formTexts } from '../../forms/texts.ts'
import { routingTexts } from './texts.ts'
import { texts } from '../../texts.ts'
import { RULES_ADDRESS } from './addresses.ts'
import { RuleAssets } from './rule-assets.tsx'
import { dropModeWithoutTags, previewBody, ruleFields } from './rule-fields.ts'
import { describeCooldown, describeMatches, PauseRule, Recipients } from './rule-list.tsx'
import { ActiveStatus } from './pause-button.tsx'
import { findStepsProblem, RuleEscalation, type Steps } from './rule-escalation.tsx'
import { RulePreview } from './rule-preview.tsx'

/** The list of rules has the kinds of alerts as well, and nearly always the rule. */
async function loadRule(id: string, signal: AbortSignal) {
  const [{ data: rules }, destinations] = await Promise.all([
    api.get('/api/v1/sdk/alerts/rules', { query: { limit: 100 }, signal }),
    api.get('/api/v1/sdk/alerts/destinations', { query: { limit: 100 }, signal }),
  ])
  const listed = rules.data.find(rule => rule.id === id)
  const rule =
    listed || id === 'new'
      ? listed
      : (await api.get('/api/v1/sdk/alerts/rules/{id}', { path: { id }, signal })).data
  return { rule, destinations: destinations.data.destinations, kinds: sortKinds(rules.event_types) }
}
type RulePageContent = Awaited<ReturnType<typeof loadRule>>

/** A rule beside what it would have sent. @param props.id of a rule, or `new` */
export function RulePage({ id }: { id: string }) {
  const asked = useData(`rule ${id}`, signal => loadRule(id, signal))
  const title = asked.data?.rule?.name ?? (id === 'new' ? 'New rule' : routingTexts.rule)
  useTitle(title)
  if (isMissing(asked.error) || (id === 'new' && !canWrite()))
    return <MissingPage title="There is no such rule" href={RULES_ADDRESS} back={routingTexts.backToRules} />
  return (
    <div class="page">
      <p class="path">
        <a href={RULES_ADDRESS}>{routingTexts.backToRules}</a>
      </p>
      <h1>
        <bdi>{title}</bdi>
        <Help page="alerts#who-hears-of-what" about={routingTexts.rules} />
      </h1>
      <Loaded of={asked} what={routingTexts.rule.toLowerCase()} rows={9}>
        {({ rule, destinations, kinds }: RulePageContent) =>
          !canWrite() && rule ? (
            <RuleView rule={rule} destinations={destinations} kinds={kinds} />
          ) : destinations.length === 0 ? (
            <Empty title="A rule needs a destination to send to.">
              <p>
                <a class="button primary" href="/routing/new">
                  {routingTexts.addDestination}
                </a>
              </p>
            </Empty>
          ) : (
            <>
              {rule && <RuleActions rule={rule} reload={asked.reload} />}
              <RuleForm rule={rule} destinations={destinations} kinds={kinds} reload={asked.reload} />
            </>
          )
        }
      </Loaded>
    </div>
  )
}

interface RuleProps {
  rule: AlertRule | undefined
  destinations: readonly Destination[]
  kinds: readonly AlertEventType[]
}

function RuleForm({ rule, destinations, kinds, reload }: RuleProps & { reload: () => void }) {
  const fields = ruleFields(destinations, kinds, rule)
  const specs = Object.values(fields)
  const form = useForm(`rule ${rule?.id ?? 'new'}`, specs, rule)
  const isOrphaned = rule?.asset_ids?.length === 0
  const [steps, setSteps] = useState<Steps>(rule?.escalation ?? [])
  const [problem, setProblem] = useState('')
  const submit = () => {
    const found = findStepsProblem(steps)
    setProblem(found)
    if (found) return
    void form.send(specs, async given => {
      const escalation = steps.length > 0 ? steps : null
      const isSame = JSON.stringify(escalation) === JSON.stringify(rule?.escalation ?? null)
      const body = {
        ...(!isSame && { escalation }),
        // What is saved is what the form shows: all sources and tables.
        ...(isOrphaned && { asset_ids: null }),
        ...dropModeWithoutTags(given, form.values),
      }
      if (rule) {
        if (Object.keys(body).length > 0)
          await api.patch('/api/v1/sdk/alerts/rules/{id}', { path: { id: rule.id }, body })
        notify('The rule was changed.')
        reload()
      } else {
        await api.post('/api/v1/sdk/alerts/rules', { body: bodyOf<CreateAlertRuleRequest>(body) })
        notify('The rule was created.')
        navigate(RULES_ADDRESS, { replace: true })
      }
    })
  }
  const hasTags = String(form.values[fields.tags.name]).trim() !== ''
  return (
    <div class="with-side">
      <Form
        form={form}
        submit={submit}
        label={rule ? formTexts.save : 'Create rule'}
        more={
          form.isChanged && (
            <button type="button" onClick={form.reset}>
              {formTexts.discard}
            </button>
          )
        }
      >
        <Field form={form} spec={fields.name} />
        <Checkboxes form={form} spec={fields.destinations} />
        <Checkboxes form={form} spec={fields.severities} />
        <Checkboxes form={form} spec={fields.kinds} />
        {isOrphaned && (
          <p class="bad">
            The sources and tables of this rule were deleted, so it selects nothing. Choose others, or save it
            for all.
          </p>
        )}
        <RuleAssets form={form} spec={fields.assets} />
        <Field form={form} spec={fields.tags} />
        {hasTags && <Field form={form} spec={fields.tagMode} />}
        <Field form={form} spec={fields.cooldown} />
        <RuleEscalation steps={steps} destinations={destinations} change={setSteps} />
        {problem && (
          <p class="bad" role="alert">
            {problem}
          </p>
        )}
        <Field form={form} spec={fields.description} />
      </Form>
      <RulePreview body={previewBody(fields, form.values)} />
    </div>
  )
}

/** What those see who may not change it. */
function RuleView({ rule, destinations, kinds }: RuleProps & { rule: AlertRule }) {
  const fields = ruleFields(destinations, kinds, rule)
  const specs = Object.values(fields)
  return (
    <div class="with-side">
      <dl class="facts">
        <div>
          <dt>{texts.status}</dt>
          <dd>
            <ActiveStatus isActive={rule.is_active} />
          </dd>
        </div>
        <div>
          <dt>{routingTexts.matches}</dt>
          <dd>{describeMatches(rule, kinds)}</dd>
        </div>
        <div>
          <dt>{routingTexts.sendsTo}</dt>
          <dd>
            <Recipients rule={rule} destinations={destinations} />
          </dd>
        </div>
        <div>
          <dt>{routingTexts.cooldown}</dt>
          <dd>{describeCooldown(rule)}</dd>
        </div>
        {rule.description && (
          <div>
            <dt>{routingTexts.description}</dt>
            <dd>
              <bdi>{rule.description}</bdi>
            </dd>
          </div>
        )}
      </dl>
      <RulePreview body={previewBody(fields, readValues(specs, rule))} />
    </div>
  )
}

function RuleActions({ rule, reload }: { rule: AlertRule; reload: () => void }) {
  const [isAsking, setAsking] = useState(false)
  const remove = async () => {
    await api.delete('/api/v1/sdk/alerts/rules/{id}', { path: { id: rule.id } })
    notify('The rule was deleted.')
    navigate(RULES_ADDRESS, { replace: true })
  }
  return (
    <>
      <p class="facts">
        <ActiveStatus isActive={rule.is_active} />
        <span class="actions">
          <PauseRule rule={rule} reload={reload} />
          <button class="destructive small" onClick={() => setAsking(true)}>
            {routingTexts.deleteRule}
          </button>
        </span>
      </p>
      {isAsking && (
        <ConfirmDialog
          title={routingTexts.deleteTitle(rule.name)}
          action={routingTexts.deleteRule}
          work={remove}
          close={() => setAsking(false)}
        >
          <p>
            Alerts and sent messages stay. When no rule is left, every destination gets all warnings and
            critical alerts.
          </p>
        </ConfirmDialog>
      )}
    </>
  )
}
