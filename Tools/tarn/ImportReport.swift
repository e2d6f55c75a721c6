import ToolSupport

/// The location of a record: its input and its first line.
struct ImportLocation: Hashable {
  var input: Int
  var line: Int
}

/// Reports records that cannot become objects, each once.
final class ImportReport {
  /// How many bad lines are listed; the others are counted.
  private static let reportsMax = 20

  private let inputNames: [String]
  private var badLines: Set<ImportLocation> = []
  private var incompleteLines: Set<ImportLocation> = []
  /// The number of messages so far.
  private var messages = 0
  /// The lines and messages that a write has reported so far; nil outside of a write.
  private var held: Held?

  private struct Held {
    var badLines: [ImportLocation] = []
    var incompleteLines: [ImportLocation] = []
    /// The messages that may be listed.
    var messages: [String] = []
  }

  init(_ inputNames: [String]) { self.inputNames = inputNames }

  /// The lines that became no objects.
  var count: Int { badLines.count }

  /// The lines whose objects lack links to missing objects.
  var incompleteCount: Int { incompleteLines.count }

  /// `line 5`, or `dogs.csv line 5` if there are several inputs.
  func title(_ location: ImportLocation) -> String {
    (inputNames.count > 1 ? "\(inputNames[location.input]) " : "") + "line \(location.line)"
  }

  // MARK: - Writes

  /// Begins a write, which may have to be done again.
  func beginWrite() { held = Held() }

  /// Lists the messages of the write.
  func endWrite() {
    let messages = held?.messages ?? []
    held = nil
    for message in messages { list(message) }
  }

  /// Discards the lines and messages of the write.
  func abandonWrite() {
    badLines.subtract(held?.badLines ?? [])
    incompleteLines.subtract(held?.incompleteLines ?? [])
    held = nil
  }

  // MARK: - Lines

  func add(_ location: ImportLocation, _ reason: String) {
    guard badLines.insert(location).inserted else { return }
    held?.badLines.append(location)
    list("\(title(location)): \(reason)")
  }

  /// Reports links that were left out of an object.
  func add(_ location: ImportLocation, leftOut reasons: [ToolError]) {
    if reasons.isEmpty { return }
    if incompleteLines.insert(location).inserted { held?.incompleteLines.append(location) }
    for reason in reasons { list("\(title(location)): \(reason.message); the link is left out") }
  }

  private func list(_ message: String) {
    if let count = held?.messages.count {
      if count <= Self.reportsMax { held?.messages.append(message) }
      return
    }
    messages += 1
    if messages <= Self.reportsMax {
      TarnProgram.complain(message)
    } else if messages == Self.reportsMax + 1 {
      TarnProgram.complain("further bad lines are counted but not listed")
    }
  }
}
