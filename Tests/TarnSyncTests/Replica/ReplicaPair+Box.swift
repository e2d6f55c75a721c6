import TarnStore
import Testing

@testable import TarnSync

/// The box with the key 1, on which the tests of contents work.
extension ReplicaPair {
  func makeBox(_ replica: FileReplica, _ items: [Int64] = []) throws {
    try replica.commit { session in
      let key = try session.create([ColumnID(0): .int(1)], in: FileBox.id)
      try session.insert(items.map { .int($0) }, at: 0, in: FileBox.place(key, 1))
    }
  }

  /// Changes a property of the box.
  func change(
    _ replica: FileReplica, _ column: UInt16,
    _ body: (WriteSession, SequencePlace) throws -> Void
  ) throws {
    try replica.commit { session in
      let found = try session.find(primaryKey: .int(1), in: FileBox.id)
      try body(session, FileBox.place(try #require(found), column))
    }
  }

  /// The note with a key.
  func note(_ name: String, _ session: WriteSession) throws -> ObjectKey {
    let key = try session.find(primaryKey: .string(name), in: ClassID(1))
    return try #require(key)
  }

  /// Inserts links to notes into the list of the box.
  func link(_ replica: FileReplica, to names: String..., at index: Int = 0) throws {
    try change(replica, 4) { session, place in
      let notes = try names.map { Value.link(try note($0, session)) }
      try session.insert(notes, at: index, in: place)
    }
  }

  /// The box is the same in both files and on the server.
  func expectEqual(_ box: String, line: Int = #line) throws {
    let location = SourceLocation(
      fileID: #fileID, filePath: #filePath, line: line, column: 1)
    let truth = try FileBox.all(server)["Box 1"]?.rest
    #expect(truth == box, sourceLocation: location)
    for replica in [a, b] {
      #expect(try replica.objects()["Box 1"]?.rest == truth, sourceLocation: location)
    }
  }
}
