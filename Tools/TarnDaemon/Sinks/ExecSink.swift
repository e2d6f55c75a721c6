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
    let environment = try environment(delivery)
    guard KeyArguments.areTaken(by: settings.command) else {
      return try run(settings.command, environment, delivery.lines().piece)
    }
    let keys = try readingBatch { () throws(StorageError) in try self.keys(delivery) }
    // Without keys there is nothing to run.
    let lines = try KeyArguments(settings.command).commandLines(keys, environment)
    for words in lines { try run(words, environment, nil) }
  }

  func deliver(_ part: ObjectPart, of delivery: Delivery) throws(DeliveryFailure) {
    let environment = try environment(delivery)
    guard KeyArguments.areTaken(by: settings.command) else {
      var piece: [UInt8]? = part.bytes
      return try run(settings.command, environment) { piece.take() }
    }
    let keys = part.key.map { [$0] } ?? []
    for words in try KeyArguments(settings.command).commandLines(keys, environment) {
      try run(words, environment, nil)
    }
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

  /// The keys of all objects of a batch, as text.
  private func keys(_ delivery: Delivery) throws(StorageError) -> [String] {
    let batch = delivery.batch
    let changes = batch.changes(ofClass: delivery.watch.className)
    var identities: [ObjectIdentity] = []
    if batch.startAnew == nil {
      identities = try changes.readRecorded().map(\.identity)
    } else {
      let objects = try batch.selectedObjects(ofClass: delivery.watch.className)
      for position in 0..<objects.count { identities.append(try objects.identity(at: position)) }
    }
    return identities.map { Delivery.text(of: $0) }
  }

  private func environment(_ delivery: Delivery) throws(DeliveryFailure) -> [String] {
    let batch = delivery.batch
    var own = [
      "TARN_WATCH": delivery.watch.name, "TARN_FILE": delivery.path,
      "TARN_CLASS": delivery.watch.classNames, "TARN_VERSION": "\(batch.to)",
      "TARN_FROM": "\(batch.from)", "TARN_POSITION": batch.position.description,
    ]
    if let reason = batch.startAnew { own["TARN_START_ANEW"] = "\(reason)" }
    if batch.isRepeated { own["TARN_REPEATED"] = "1" }
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
