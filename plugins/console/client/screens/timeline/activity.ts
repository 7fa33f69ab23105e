/** An entry of the timeline of an alert or an incident. */
export interface Activity {
  id: string
  activity_type: string
  actor_type: string
  actor_name: string | null
  metadata: object
  created_at: string
}
