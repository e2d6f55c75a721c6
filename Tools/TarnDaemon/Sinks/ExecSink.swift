import CDaemon
import Foundation
import Tarn
import TarnStore
import TarnText
import ToolSupport

/// Runs a command for each batch: with the batch as a line of JSON on standard input, or with the
/// keys of its objects in place of `{key}` in its arguments. Exit status 0 means that it has the
/// batch.
final class ExecSink: RefusableSink {
  /// Of sysexits.h: the input is wrong, EX_DATAERR, and try again later, EX_TEMPFAIL.
  private static let wrongInput: Int32 = 65
  private static let tryAgain: Int32 = 75
  /// So much of what a program prints goes with its refusal.
  private static let answerBytesMax = 4_096

  let slots: Slots?
  private let settings: ExecSettings
  private let log: DaemonLog
  private let status: SinkStatus
  private let running = Lock(Running())

  /// The command that runs, if any. It alone has descriptors.
  private struct Running {
    var stop: WakePipe?
    var hasStopped = false
  }

  init(_ settings: ExecSettings, _ slots: Slots, _ status: SinkStatus, _ log: DaemonLog) {
    self.settings = settings
    self.slots = slots
    self.status = status
    self.log = log
  }

  func stop() {
    running.withLock { running in
      running.hasStopped = true
      running.stop?.wake()
    }
  }

  func deliver(_ delivery: Delivery) throws(DeliveryFailure) {
    let environment = try environment(delivery, isRepeated: delivery.isRepeated)
    guard KeyArguments.areTaken(by: settings.command) else {
      return try run(settings.command, environment, delivery.lines().piece)
    }
    let line = delivery.line(ofClass: delivery.watch.className)
    let objects = try readingBatch { () throws(StorageError) in
      try ObjectItems(line, 0..<line.itemCount())
    }
    try run(objects, SentPart(line: 0, items: objects.items, number: 1), delivery, environment)
  }

  func deliver(_ part: ObjectPart, of delivery: Delivery) throws(DeliveryFailure) {
    let environment = try environment(delivery, isRepeated: true)
    guard KeyArguments.areTaken(by: settings.command) else {
      var piece: [UInt8]? = part.bytes
      return try run(settings.command, environment) { piece.take() }
    }
    try run(part.objects, part.place, delivery, environment)
  }

  /// Runs the command with the keys of objects, as often as that takes. Without keys there is
  /// nothing to run.
  private func run(
    _ objects: ObjectItems, _ place: SentPart, _ delivery: Delivery, _ environment: [String]
  ) throws(DeliveryFailure) {
    let arguments = KeyArguments(settings.command)
    let keys = try possible(objects, arguments, delivery)
    var (first, part) = (0, place)
    for (words, count) in try arguments.runs(keys.map(\.text), environment) {
      let next = first + count
      let end = next < keys.count ? keys[next].item : place.items.upperBound
      part.items = part.items.lowerBound..<end
      do throws(DeliveryFailure) {
        try run(words, environment, nil)
      } catch {
        var failure = error
        failure.refusal?.part = part
        throw failure
      }
      part = SentPart(line: part.line, items: end..<place.items.upperBound, number: part.number + 1)
      first = next
    }
  }

  /// The keys that can be handed over. A program never got an object whose key cannot, so it does
  /// not need to know of its end: a sink that such a key holds up goes on when the object is
  /// deleted.
  private func possible(
    _ objects: ObjectItems, _ arguments: KeyArguments, _ delivery: Delivery
  ) throws(DeliveryFailure) -> [ObjectItems.Key] {
    var keys: [ObjectItems.Key] = []
    for key in objects.keys {
      guard let fault = arguments.fault(of: key.text) else {
        keys.append(key)
        continue
      }
      // The operator must know which object it is, so the message has its key.
      let shown = JSONText.text(.string(String(decoding: key.text.utf8.prefix(64), as: UTF8.self)))
      let object = "an object of \(delivery.watch.className) with the key \(shown)"
      if key.isRemoved {
        log.write(.notice, "leaves out the end of \(object): \(fault)", of: status)
        continue
      }
      throw DeliveryFailure(
        description: "\(object): \(fault); or set 'dead-letters', or delete the object",
        refusal: Refusal(isFinal: true))
    }
    return keys
  }

  func tryOut(_ line: [UInt8], of watch: WatchSettings) throws(DeliveryFailure) -> String {
    if KeyArguments.areTaken(by: settings.command) {
      throw DeliveryFailure(
        description: "\(settings.command[0]) gets keys, and there is none to try it with")
    }
    let own = ["TARN_WATCH": watch.name, "TARN_CLASS": watch.classNames, "TARN_TEST": "1"]
    let inherited = try CommandEnvironment.variables(of: settings.user)
    var piece: [UInt8]? = line
    try run(settings.command, inherited.merging(own) { $1 }.map { "\($0.key)=\($0.value)" }) {
      piece.take()
    }
    return "\(settings.command[0]) exited with 0"
  }

  private func environment(
    _ delivery: Delivery, isRepeated: Bool
  ) throws(DeliveryFailure) -> [String] {
    let batch = delivery.batch
    var own = [
      "TARN_WATCH": delivery.watch.name, "TARN_FILE": delivery.path,
      "TARN_CLASS": delivery.watch.classNames, "TARN_VERSION": "\(batch.to)",
      "TARN_FROM": "\(batch.from)", "TARN_POSITION": batch.position.description,
    ]
    if let reason = batch.fullResync { own["TARN_FULL_RESYNC"] = "\(reason)" }
    if isRepeated { own["TARN_REPEATED"] = "1" }
    let inherited = try CommandEnvironment.variables(of: settings.user)
    return inherited.merging(own) { $1 }.map { "\($0.key)=\($0.value)" }
  }

  private func run(
    _ words: [String], _ environment: [String], _ input: (() throws(DeliveryFailure) -> [UInt8]?)?
  ) throws(DeliveryFailure) {
    guard let stop = WakePipe() else {
      throw DeliveryFailure(description: "no descriptor is left")
    }
    let isLate = running.withLock { running in
      running.stop = stop
      return running.hasStopped
    }
    if isLate { throw DeliveryFailure(description: "the daemon ends") }
    defer { running.withLock { $0.stop = nil } }
    let run = try CommandRun(words, environment: environment, user: settings.user, input: input)
    var printed: [UInt8] = []
    let end = run.wait(
      timeout: settings.timeout, grace: settings.grace, stop: stop
    ) { [log, status] line in
      log.write(.info, line, of: status)
      printed = (printed + line.utf8 + [0x0a]).suffix(Self.answerBytesMax)
    }
    let answer = String(decoding: printed, as: UTF8.self)
    switch end {
    case .exited(0): return
    case .exited(let code):
      throw DeliveryFailure(
        description: "\(words[0]) exited with \(code)",
        refusal: code == Self.tryAgain
          ? nil : Refusal(isFinal: code == Self.wrongInput, code: Int(code), answer: answer))
    case .killed(let signal):
      throw DeliveryFailure(
        description: "\(words[0]) was ended by signal \(signal)",
        refusal: Refusal(answer: answer))
    case .late:
      throw DeliveryFailure(
        description: "\(words[0]) did not end within \(settings.timeout.rounded) s",
        refusal: Refusal(answer: answer))
    case .stopped: throw DeliveryFailure(description: "the daemon ends")
    case .unread(let failure): throw failure
    }
  }
}
