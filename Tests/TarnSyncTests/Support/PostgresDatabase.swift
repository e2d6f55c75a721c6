import Foundation
import TarnStore
import TestSupport

@testable import TarnSync

/// An empty database of a test's own.
struct PostgresDatabase {
  let name: String
  private let server: PostgresServer

  init() throws {
    server = try PostgresServer.shared.get()
    name = "test_" + UUID().uuidString
    try ServerConnection(ServerAddress(server.address("postgres")))
      .run("CREATE DATABASE \(SQLText.name(name))", for: "create a database")
  }

  /// With the schema `tarn` and classes.
  init(_ classes: [ClassSchema]) throws {
    try self.init()
    let connection = try connect()
    _ = try ServerSetup.run(connection)
    try ServerMigration(connection).run(StoreSchema(classes: classes))
  }

  func address(as role: String) -> String { server.address(name, as: role) }

  /// - Parameter socket: the folder of a proxy's socket.
  func connect(as role: String, at socket: String) throws -> ServerConnection {
    try ServerConnection(ServerAddress(server.address(name, as: role, at: socket)))
  }

  func connect(as role: String = PostgresServer.administrator) throws -> ServerConnection {
    try ServerConnection(ServerAddress(server.address(name, as: role)))
  }

  /// Runs a program of PostgreSQL on the database.
  func run(_ program: String, _ options: [String]) throws {
    let place = ["-h", server.folder, "-U", PostgresServer.administrator]
    let process = try Process.run(
      URL(filePath: "/usr/bin/env"), arguments: [program] + place + options + [name])
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw ServerError("run \(program)", "it ended with \(process.terminationStatus)")
    }
  }

  /// Makes a login that may do what programs may.
  func makeClient() throws -> String {
    let role = "client_" + UUID().uuidString.prefix(8).lowercased()
    try connect().run(
      "CREATE ROLE \(role) LOGIN; GRANT \(ServerSchema.client) TO \(role)", for: "make a role")
    return role
  }
}

extension ServerConnection {
  /// The rows, for tests.
  @discardableResult
  func rows(_ statement: String, _ parameters: [String?] = []) throws -> [[String?]] {
    try query(statement, parameters, for: "test")
  }

  /// The only value of the only row.
  func value(_ statement: String, _ parameters: [String?] = []) throws -> String? {
    try rows(statement, parameters).first?.first ?? nil
  }

  /// The code with which the server refuses a statement; nil if it does not.
  func refusal(_ statement: String) -> String? {
    do throws(ServerError) {
      try query(statement, for: "test")
      return nil
    } catch {
      return error.state
    }
  }
}

extension ClassSchema {
  /// A class of the tests: a text as key, a text, a number and a list.
  static let todo = ClassSchema(
    id: ClassID(0), name: "Todo",
    columns: [
      ColumnSchema(id: ColumnID(0), name: "_id", type: .string),
      ColumnSchema(id: ColumnID(1), name: "title", type: .string),
      ColumnSchema(id: ColumnID(2), name: "count", type: .int, isOptional: true),
      ColumnSchema(id: ColumnID(3), name: "tags", type: .string, collection: .list),
    ], primaryKey: ColumnID(0))
}
