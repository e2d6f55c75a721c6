import Foundation
import TarnStore
import TarnText
import ToolSupport

/// `tarn repair`: makes a new store of the readable objects of a damaged one.
struct RepairCommand {
  private let path: String
  private let destination: String
  private let takesStale: Bool
  private let patience: WriterPatience

  init(_ arguments: ParsedArguments) throws {
    path = arguments.required("FILE")
    destination = arguments.required("DEST")
    takesStale = arguments.has("stale")
    patience = try WriterPatience(arguments)
  }

  func run(_ output: OutputPipe) throws -> ExitCode {
    let file = try NewStoreFile(destination)
    Interruption.beforeEnd {
      file.remove()
      TarnProgram.complain("ended by a signal; nothing was repaired")
      _exit(ExitCode.failure.rawValue)
    }
    do {
      let report = try repair(into: file.temporaryPath)
      try Interruption.beginCommit()
      try file.publish()
      try report.write(output, destination)
      if report.isComplete { return .success }
      TarnProgram.complain("\(path): not everything could be read")
      return .failure
    } catch {
      file.remove()
      throw error
    }
  }

  /// A separate function, so that nothing holds the store when it returns.
  private func repair(into target: String) throws -> RepairReport {
    let salvage = try Salvage(path, besides: destination)
    guard let newest = salvage.states.first else {
      throw ToolError(
        "\(path): no version can be read. \(salvage.problems.joined(separator: "; "))")
    }
    let classes = newest.schema.classes.filter { !$0.isVacant }
    var options = Store.Options()
    options.classes = try SchemaJSON.classes(SchemaJSON.json(classes, newest.schema))
    options.schemaVersion = newest.head.schemaVersion
    let store = try StoreRegistry.open(target, options)
    let copy = RepairCopy(salvage, store, patience)
    for described in classes where !described.isEmbedded {
      try copy.copy(described, takingStale: takesStale)
    }
    try copy.removeMissingLinks()
    return copy.report
  }
}

/// The objects that a repair has found and lost.
struct RepairReport {
  /// The most lines about single values.
  private static let linesMax = 1_000

  private(set) var objects = 0
  private(set) var older = 0
  private(set) var stale = 0
  private(set) var left = 0
  private(set) var lines: [String] = []
  /// The objects that are as in the version before.
  private var ranges: [String] = []
  private var more = 0

  /// Whether everything of the newest version was read.
  var isComplete: Bool { lines.isEmpty && older + stale + left == 0 }

  mutating func note(_ line: String) {
    if lines.count < Self.linesMax { lines.append(line) } else { more += 1 }
  }

  mutating func noteOlder(_ count: Int, _ keys: ClosedRange<ObjectKey>, of name: String) {
    ranges.append(
      "class \(name): \(counted(count, "object")) with keys from \(keys.lowerBound.rawValue) to "
        + "\(keys.upperBound.rawValue) as in the version before")
  }

  mutating func count(_ origin: RepairCopy.Origin) {
    objects += 1
    switch origin {
    case .newest: break
    case .before: older += 1
    case .stale: stale += 1
    }
  }

  mutating func countLeft() { left += 1 }

  func write(_ output: OutputPipe, _ destination: String) throws {
    for line in lines { try output.write("- \(printable(line))\n") }
    if more > 0 { try output.write("- and \(more) more\n") }
    for line in ranges { try output.write("- \(printable(line))\n") }
    try output.write("\(printable(destination)): \(counted(objects, "object"))\n")
    if older > 0 {
      try output.write("  \(older) of them as in the version before the newest\n")
    }
    if stale > 0 {
      try output.write("  \(stale) of them from pages that are not in use; they may be outdated\n")
    }
    if left > 0 {
      try output.write(
        "  left out: \(counted(left, "object")) in pages that are not in use, which may be "
          + "outdated or deleted (--stale takes them)\n")
    }
  }
}
