import Foundation
import TarnStore
import TarnText
import ToolSupport

/// The classes of a Realm file, which `tarn-import` prints as `tarn schema --json` does.
struct RealmFileSchema {
  let schema: StoreSchema

  init(_ realm: RealmFileArguments) throws {
    let programs = TarnProgram.places.map { "\($0)/\(RealmFileArguments.program)" }
    guard let program = programs.first(where: { access($0, X_OK) == 0 }) else {
      throw ToolError("cannot start \(programs.joined(separator: " or ")): it is not installed")
    }
    let process = try ChildProcess(program, realm.words)
    let (lines, end) = process.finish()
    // It has said why.
    guard end == .exited(0), let line = lines.first else { throw Failure() }
    let definitions = try SchemaJSON.classes(JSONScanner.exactValue(in: Array(line.utf8)))
    schema = SchemaPlan(stored: StoreSchema(), wanted: definitions).schema
  }

  /// The other program has printed its own message.
  struct Failure: Error {}
}
