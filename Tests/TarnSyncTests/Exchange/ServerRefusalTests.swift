import Testing

@testable import TarnSync

@Suite struct ServerRefusalTests {
  @Test(
    arguments: [
      ("23505", .commit), ("23514", .commit), ("22003", .commit), ("44000", .commit),
      ("54000", .commit), ("42501", .commit), ("P0001", .commit), ("TN001", .merge),
      ("TN002", .version), ("28P01", .login), ("28000", .login), ("42P01", .schema),
      ("42703", .schema), ("25006", .standby), ("40P01", .again), ("40001", .again),
      ("57P01", .again), ("08006", .again), ("53300", .again), ("55P03", .again), ("", .again),
      ("42601", .again), ("XX000", .again),
    ] as [(String, ServerRefusal)])
  func `the code of an error says what to do`(_ state: String, _ expected: ServerRefusal) {
    #expect(ServerRefusal(state) == expected)
  }
}
