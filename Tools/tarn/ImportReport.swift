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

  init(_ inputNames: [String]) { self.inputNames = inputNames }

  var count: Int { badLines.count }

  /// `line 5`, or `dogs.csv line 5` if there are several inputs.
  func title(_ location: ImportLocation) -> String {
    (inputNames.count > 1 ? "\(inputNames[location.input]) " : "") + "line \(location.line)"
  }

  func add(_ location: ImportLocation, _ reason: String) {
    guard badLines.insert(location).inserted else { return }
    if badLines.count <= Self.reportsMax {
      TarnProgram.complain("\(title(location)): \(reason)")
    } else if badLines.count == Self.reportsMax + 1 {
      TarnProgram.complain("further bad lines are counted but not listed")
    }
  }
}
