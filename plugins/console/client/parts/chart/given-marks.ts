import { createContext } from 'preact'
import type { ChartMark } from './points.ts'

/** The marks of charts on a screen that knows what happened to the table: none are asked for. */
export const GivenMarks = createContext<readonly ChartMark[] | undefined>(undefined)
