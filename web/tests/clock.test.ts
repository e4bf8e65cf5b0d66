import { expect, test } from 'vitest'
import { PlantClock } from '../src/lib/clock'

test('readings of another time do not move the clock of a plant', () => {
  const clock = new PlantClock()
  clock.set(1000)
  clock.follow(400)
  expect(clock.now()).toBeCloseTo(1000, 0)
})

test('where a simulation sets the pace, those of the machine furthest ahead do', () => {
  const clock = new PlantClock()
  clock.setSpeed(4)
  clock.set(1000)
  clock.follow(1500)
  clock.follow(400)
  expect(clock.now()).toBeGreaterThanOrEqual(1500)
})
