/** Names for the types that are generated from the OpenAPI description of the service. */
import type { components, paths } from './schema'

type Schemas = components['schemas']

export type MachineStatus = Schemas['MachineStatus']
export type MachineState = MachineStatus['state']
export type OperatingPoint = Schemas['OperatingPointStatus']
export type Thresholds = Schemas['Thresholds']
export type Reading = Schemas['Reading']
export type Trend = Schemas['TrendReply']
export type BandTrend = Schemas['BandTrendReply']
export type Band = Schemas['BandStatus']
export type Sensor = Schemas['SensorStatus']
export type Severity = Schemas['Severity']
export type Outlook = Schemas['Outlook']
export type Finding = Schemas['Finding']
export type Episode = Schemas['Episode']
export type ChangePoint = Schemas['ChangePoint']
export type Spectrum = Schemas['Spectrum']
export type Spectrogram = Schemas['Spectrogram']
export type EventSpectrogram = Schemas['EventSpectrogram']
export type MachineSound = Schemas['MachineSound']
export type ModelInfo = Schemas['ModelInfo']

/** `Event` is a name of the browser. */
export type MachineEvent = Schemas['Event']
export type EventKind = MachineEvent['kind']
export type EventState = MachineEvent['state']
export type EventLabel = MachineEvent['label']

export type ServiceStatus = Schemas['ServiceStatus']
export type StatusReply = Schemas['StatusReply']
export type UserInfo = Schemas['UserInfo']
export type Role = UserInfo['role']
export type SessionInfo = Schemas['SessionInfo']

/** A message of the live stream, by its name. */
export type LiveMessage = paths['/v1/live']['get']['responses'][200]['content']['text/event-stream']
