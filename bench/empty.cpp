// empty.cpp: the floor. A program linked as most are and doing nothing.
int main() { return 0; }
