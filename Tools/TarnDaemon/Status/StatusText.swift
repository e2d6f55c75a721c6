import Foundation
import TarnStore
import TarnText
import ToolSupport

extension StatusReport {
  /// One JSON object in one line.
  var json: String {
    let value = JSONValue.object([
      JSONMember("instance", .string(instance)), JSONMember("secondsUp", .double(secondsUp)),
      JSONMember("healthy", .bool(isHealthy)), JSONMember("files", .array(files.map(Self.json))),
      JSONMember("sinks", .array(sinks.map(Self.json))),
      JSONMember("sync", .array(syncs.map(Self.json))),
    ])
    return JSONText.text(value) + "\n"
  }

  private static func number(_ value: UInt64) -> JSONValue {
    Int64(exactly: value).map { .integer($0) } ?? .whole("\(value)")
  }

  private static func text(_ value: String?) -> JSONValue { value.map { .string($0) } ?? .null }

  /// A time as ISO 8601 has it.
  private static func time(_ seconds: Double?) -> JSONValue {
    guard let seconds else { return .null }
    return .string(ISODate.text(Timestamp(seconds: Int64(seconds), nanoseconds: 0)))
  }

  private static func json(_ file: File) -> JSONValue {
    .object([
      JSONMember("path", .string(file.path)), JSONMember("waiting", text(file.waiting)),
      JSONMember("bytes", .integer(Int64(file.bytes))), JSONMember("version", number(file.version)),
      JSONMember("followed", .bool(file.isFollowed)), JSONMember("writer", text(file.writer)),
      JSONMember("pinnedBytes", .integer(Int64(file.pinnedBytes))),
      JSONMember("pins", .array(file.pins.map(Self.json))),
    ])
  }

  private static func json(_ pin: PinnedState) -> JSONValue {
    .object([
      JSONMember("process", .string("\(pin.process)")),
      JSONMember("commitsBehind", number(pin.commitsBehind)),
      JSONMember("keptBytes", .integer(Int64(pin.keptBytes))),
      JSONMember("since", time(pin.since.map { Double($0) / 1_000_000 })),
    ])
  }

  private static func json(_ sync: SyncStatus) -> JSONValue {
    .object([
      JSONMember("file", .string(sync.path)), JSONMember("server", .string(sync.server)),
      JSONMember("connected", .bool(sync.isConnected)),
      JSONMember("complete", .bool(sync.isComplete)), JSONMember("sent", number(sync.sent)),
      JSONMember("unsentObjects", .integer(Int64(sync.unsentObjects))),
      JSONMember("leftOut", .integer(Int64(sync.leftOutCount))),
      JSONMember("leftOutValues", .array(sync.leftOut.map { .string($0) })),
      JSONMember("refused", number(sync.refused)), JSONMember("problem", text(sync.problem)),
    ])
  }

  private static func json(_ sink: Sink) -> JSONValue {
    let content = sink.content
    return .object([
      JSONMember("watch", .string(sink.watch)), JSONMember("sink", .string(sink.sink)),
      JSONMember("file", .string(sink.path)), JSONMember("version", number(content.version)),
      JSONMember("behind", number(sink.behind)),
      JSONMember("secondsBehind", .double(sink.secondsBehind)),
      JSONMember("bytesBehind", sink.bytesBehind.map(number) ?? .null),
      JSONMember("delivered", number(content.delivered)),
      JSONMember("retried", number(content.retried)),
      JSONMember("deadLetters", number(content.deadLetters)),
      JSONMember("paused", .bool(content.isPaused)),
      JSONMember("waiting", text(content.waiting)),
      JSONMember("skipped", number(content.skipped)),
      JSONMember("deliverySeconds", .double(content.deliverySeconds)),
      JSONMember("lastDeliverySeconds", content.lastDeliverySeconds.map { .double($0) } ?? .null),
      JSONMember("startedAnew", number(content.startedAnew)),
      JSONMember("clients", .integer(Int64(content.clients))),
      JSONMember("dropped", number(content.dropped)),
      JSONMember("failing", .bool(content.isFailing)),
      JSONMember("failingSince", time(content.failingSince)),
      JSONMember("lastError", text(content.lastError)),
      JSONMember("lastErrorAt", time(content.lastErrorAt)),
    ])
  }
}
