import TestSupport
import Testing

@testable import TarnSync

/// A class that is exchanged only after others.
@Suite final class AddedClassTests: ReplicaPair {
  private let others = TemporaryFolder()

  private func open(
    as role: String, _ classes: [String] = FileReplica.names
  ) throws -> FileReplica {
    try FileReplica(others.file("c"), classes: classes) { [database] in
      try database.connect(as: role)
    }
  }

  @Test func `objects of a class that is exchanged later are sent`() throws {
    let role = try database.makeClient()
    let first = try open(as: role, ["Note"])
    try first.create("Note", .string("n1"), a: 1)
    try first.create("Thing", .int(1), a: 1, note: "n1")
    try first.synchronize()
    try first.create("Thing", .int(2), a: 2)
    try first.set("Thing", .int(1), 1, .int(3))
    try first.synchronize()
    try synchronize()
    #expect(try b.objects() == ["Note n1": .init(a: 1)])
    first.end()
    let second = try open(as: role)
    defer { second.end() }
    try second.create("Thing", .int(3), a: 3)
    try second.synchronize()
    try synchronize()
    let expected: [String: FileReplica.Object] = [
      "Note n1": .init(a: 1), "Thing 1": .init(a: 3, note: "n1"), "Thing 2": .init(a: 2),
      "Thing 3": .init(a: 3),
    ]
    #expect(try second.objects() == expected)
    #expect(try b.objects() == expected)
  }
}
