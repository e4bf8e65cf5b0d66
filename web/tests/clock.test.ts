import { expect, test } from 'vitest'
import { ServiceClock } from '../src/lib/clock'

test('readings with other times do not set the clock', () => {
  const clock = new ServiceClock()
  clock.set(1000)
  clock.follow(400)
  expect(clock.now()).toBeCloseTo(1000, 0)
})

test('in a simulation, readings of the machine furthest ahead set the clock', () => {
  const clock = new ServiceClock()
  clock.setSpeed(4)
  clock.set(1000)
  clock.follow(1500)
  clock.follow(400)
  expect(clock.now()).toBeGreaterThanOrEqual(1500)
})
